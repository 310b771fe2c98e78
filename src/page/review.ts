import type { ShownCard } from '../core/commands.ts';
import { buttonsForm, type OwnPage } from './forms.ts';
import { answerText, html, type Html } from './html.ts';
import { itemFacts } from './items.ts';

/** What waits for an answer: proposals [K9], then what may not hold any more [K16]. */
export async function reviewPage({ context, give }: OwnPage): Promise<Html> {
  const replies = await Promise.all([give('memory proposals'), give('memory review')]);
  const parts = replies.map(({ text, data }) =>
    data?.kind === 'review' || data?.kind === 'proposals' ? data.cards.map(cardOf) : answerText(text),
  );
  return html`<h1>To review</h1>
    <section id="list" data-live aria-label="Questions for you">
      ${parts.every((part) => part.length === 0) ? html`<p>Nothing to review.</p>` : parts}
      ${buttonsForm(context)}
    </section>`;
}

function cardOf({ question, items, buttons }: ShownCard): Html {
  const texts = items.map(({ id }) => `text-${id}`).join(' ');
  return html`<article class="card" aria-labelledby="${texts}">
    <h2>${question}</h2>
    ${items.map(itemFacts)}
    <div class="acts">
      ${buttons.map(
        ({ label, line }) =>
          html`<button form="buttons" name="line" value="${line ?? ''}" aria-describedby="${texts}">
            ${label}
          </button>`,
      )}
    </div>
  </article>`;
}
