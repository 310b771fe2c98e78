import type { ShownFound } from '../core/commands.ts';
import type { OwnPage } from './forms.ts';
import { html, type Html } from './html.ts';
import { places } from './items.ts';

/** Everything that was said and is kept, by words [C1]. */
export async function searchPage({ query, give }: OwnPage): Promise<Html> {
  const words = (query.get('q') ?? '').trim();
  const { text, data } = words === '' ? {} : await give(`memory search ${words}`);
  return html`<h1>Search</h1>
    <form class="filter" method="get" action="/search" role="search">
      <p>
        <label for="q">Words of what you said, or of what I keep</label>
        <input id="q" name="q" type="search" value="${words}" required />
      </p>
      <p><button>Search</button></p>
    </form>
    <section id="found" aria-live="polite">
      ${
        data?.kind !== 'found' || data.results.length === 0
          ? html`<p>${text}</p>`
          : html`<ol class="items">
              ${data.results.map(resultOf)}
            </ol>`
      }
    </section>`;
}

function resultOf({ text, date, visibility, origin }: ShownFound['results'][number]): Html {
  const from =
    'link' in origin
      ? html`<a href="${origin.link}" rel="noreferrer">on Discord</a>`
      : 'itemId' in origin
        ? html`<a href="/items/${origin.itemId}">the item</a>`
        : origin.file;
  return html`<li>
    <p class="note">${text.replaceAll(' | ', '\n')}</p>
    <p class="facts">${date === '' ? '' : `${date} · `}${places[visibility]} · ${from}</p>
  </li>`;
}
