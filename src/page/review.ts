import type { ShownCard } from '../core/commands.ts';
import { commandForm, textForm, type FormContext, type OwnPage } from './forms.ts';
import { answerText, html, type Html } from './html.ts';
import { itemFacts } from './items.ts';

/** What waits for an answer: proposals [K9], then what may not hold any more [K16]. */
export async function reviewPage({ context, give }: OwnPage): Promise<Html> {
  const replies = await Promise.all([give('memory proposals'), give('memory review')]);
  const parts = replies.map(({ text, data }) =>
    data?.kind === 'review' || data?.kind === 'proposals'
      ? data.cards.map((card) => cardOf(card, context))
      : answerText(text),
  );
  return html`<h1>To review</h1>
    <section id="cards" data-live aria-label="Questions for you">
      ${parts.every((part) => part.length === 0) ? html`<p>Nothing to review.</p>` : parts}
    </section>`;
}

function cardOf({ question, items, answers, form }: ShownCard, context: FormContext): Html {
  const key = items.map(({ id }) => id).join(' ');
  const texts = items.map(({ text }) => text).join(' / ');
  return html`<article class="card" aria-label="${texts}">
    <h2>${question}</h2>
    ${items.map(itemFacts)}
    <div class="acts">
      ${answers.map(({ label, line }) =>
        commandForm(
          context,
          line,
          html`<button data-key="${label} ${key}" aria-label="${label}: ${texts}">${label}</button>`,
        ),
      )}
    </div>
    ${
      form === undefined
        ? undefined
        : html`<details>
            <summary data-key="words ${key}">${form.title}</summary>
            ${textForm({ ...form, title: 'Save' }, `words-${key}`, context)}
          </details>`
    }
  </article>`;
}
