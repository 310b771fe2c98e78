import { commandForm, itemButtons, buttonsForm, type OwnPage } from './forms.ts';
import { answerText, html, type Html } from './html.ts';
import { itemFacts } from './items.ts';

/** One item: what it says, a form that changes it, where it comes from, and what it said before. */
export async function itemPage({ id = '', context, give }: OwnPage): Promise<Html | undefined> {
  const [{ data }, why] = await Promise.all([give('memory show'), give(`memory why ${id}`)]);
  const item = data?.kind === 'memory' ? data.items?.find((each) => each.id === id) : undefined;
  if (item === undefined) return undefined;
  return html`<p><a href="/">All items</a></p>
    <h1>An item</h1>
    <section id="item" data-live aria-label="The item">
      ${itemFacts(item)}
      <div class="acts">${itemButtons(item)}</div>
      ${buttonsForm(context)}
    </section>
    <section>
      <h2>Edit</h2>
      ${commandForm(
        context,
        `memory edit ${item.id}`,
        html`<label for="text">What it says</label>
          <textarea id="text" name="text" rows="3" maxlength="500" required>${item.text}</textarea>
          ${
            item.visibility === 'dm'
              ? undefined
              : html`<p class="facts">
                  What you write here is said in our DM: the item is for our DM until you share it.
                </p>`
          }
          <button>Save</button>`,
      )}
    </section>
    <section id="why" data-live>
      <h2>Where it comes from, and what it said before</h2>
      ${answerText(why.text.replace(/^- \[.*\n/u, ''))}
    </section>`;
}
