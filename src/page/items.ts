import type { ShownItem, ShownMemory } from '../core/commands.ts';
import { counted, searchForm } from '../core/text.ts';
import { commandForm, itemButtons, buttonsForm, type FormContext, type OwnPage } from './forms.ts';
import { html, timeOf, type Html } from './html.ts';

/** The items that are left by what the address asks for. */
export function narrowed(items: readonly ShownItem[], query: URLSearchParams): readonly ShownItem[] {
  const words = searchForm(query.get('q') ?? '').split(' ');
  const is = (name: string, found: string): boolean => !isSet(query, name) || query.get(name) === found;
  return items.filter(
    (item) =>
      words.every((word) => searchForm(`${item.text} ${item.question ?? ''} ${item.id}`).includes(word)) &&
      is('kind', item.kind) &&
      is('where', item.visibility) &&
      is('source', item.source) &&
      is('day', item.isOver ? 'over' : 'current') &&
      is('pinned', item.isPinned ? 'yes' : 'no'),
  );
}

function isSet(query: URLSearchParams, name: string): boolean {
  return (query.get(name) ?? '') !== '';
}

const sources = { manual: 'you told me', discord: 'noticed while talking', summary: 'noticed afterwards' };
/** In words, where something may be used. */
export const places = {
  everywhere: 'used everywhere',
  server: 'used in its server and our DM',
  here: 'used in its channel and our DM',
  dm: 'used in our DM only',
};
const modes = { auto: 'auto: I notice', ask: 'ask: I ask first', off: 'off: only what you tell me' };

/** What can be remembered, and all items. */
export async function itemsPage({ query, context, give }: OwnPage): Promise<Html> {
  const { text, data } = await give('memory show');
  return html`<h1>Your memory</h1>
    ${data?.kind === 'memory' ? [stateOf(data, context), itemList(data, query, context)] : html`<p>${text}</p>`}`;
}

function itemList({ items }: ShownMemory, query: URLSearchParams, context: FormContext): Html {
  if (items === undefined) return html`<p>Items are switched off on this bot.</p>`;
  const shown = narrowed(items, query);
  const isAll = shown.length === items.length;
  return html`${rememberForm(context)} ${items.length === 0 ? undefined : filterForm(items, query)}
    <section id="list" data-live aria-label="Items">
      <p class="count">${isAll ? '' : `${shown.length} of `}${counted(items.length, 'item')}</p>
      ${shown.length === 0 ? emptyText(items.length > 0) : undefined}
      <ul class="items">
        ${shown.map((item) => html`<li>${itemCard(item)}</li>`)}
      </ul>
      ${buttonsForm(context)}
    </section>`;
}

function emptyText(isNarrowed: boolean): Html {
  return isNarrowed
    ? html`<p>Nothing matches. <a href="/">Show all items</a></p>`
    : html`<p>Nothing yet. Write above what I should remember, or tell me on Discord.</p>`;
}

function stateOf({ mode, pause }: ShownMemory, context: FormContext): Html {
  const isPaused = pause !== undefined;
  return html`<section id="state" class="state" data-live aria-label="What I keep">
    ${commandForm(
      context,
      'memory mode',
      html`<label for="mode">Mode</label>
        <select id="mode" name="text">
          ${options(modes, mode)}
        </select>
        <button data-key="mode">Set</button>`,
    )}
    ${commandForm(
      context,
      isPaused ? 'memory resume' : 'memory pause',
      html`<span>${isPaused ? 'Paused: I store nothing that you say.' : 'I store what you tell me.'}</span>
        <button data-key="pause">${isPaused ? 'Resume' : 'Pause'}</button>`,
    )}
  </section>`;
}

function rememberForm(context: FormContext): Html {
  return html`<section class="remember">
    ${commandForm(
      context,
      'memory remember',
      html`<label for="text">Remember something</label>
        <textarea id="text" name="text" rows="2" maxlength="500" required></textarea>
        <button>Remember</button>`,
    )}
  </section>`;
}

function filterForm(items: readonly ShownItem[], query: URLSearchParams): Html {
  const kinds = Object.fromEntries([...new Set(items.map(({ kind }) => kind))].map((kind) => [kind, kind]));
  const selects = [
    ['kind', 'Kind', { '': 'any', ...kinds }],
    ['where', 'Where', { '': 'any', ...places }],
    ['source', 'Source', { '': 'any', ...sources }],
    ['day', 'Day', { '': 'any', current: 'not over', over: 'over' }],
    ['pinned', 'Pinned', { '': 'any', yes: 'pinned', no: 'not pinned' }],
  ] as const;
  const isOpen = selects.some(([name]) => isSet(query, name));
  return html`<form class="filter" method="get" action="/" role="search">
    <p>
      <label for="q">Search</label> <input id="q" name="q" type="search" value="${query.get('q') ?? ''}" />
    </p>
    <p><button>Show</button></p>
    <details ${isOpen ? 'open' : ''}>
      <summary>Narrow the list</summary>
      <div>
        ${selects.map(
          ([name, label, values]) =>
            html`<p>
              <label for="by-${name}">${label}</label>
              <select id="by-${name}" name="${name}">
                ${options(values, query.get(name) ?? '')}
              </select>
            </p>`,
        )}
      </div>
    </details>
  </form>`;
}

function options(values: Readonly<Record<string, string>>, chosen: string): Html[] {
  return Object.entries(values).map(([value, label]) =>
    value === chosen
      ? html`<option value="${value}" selected>${label}</option>`
      : html`<option value="${value}">${label}</option>`,
  );
}

function itemCard(item: ShownItem): Html {
  return html`<article aria-labelledby="text-${item.id}">
    ${itemFacts(item)}
    <div class="acts">
      <a href="/items/${item.id}" data-key="open ${item.id}" aria-describedby="text-${item.id}"
        >Edit and why</a
      >
      ${itemButtons(item)}
    </div>
  </article>`;
}

/** What an item says and where it may be used. */
export function itemFacts(item: ShownItem): Html {
  const { id, text, question, visibility, source, channelName, updatedAt, when } = item;
  const facts = [
    item.isPinned ? html`<strong>pinned</strong>` : undefined,
    item.isOver ? html`<strong>over</strong>` : undefined,
    item.kind,
    places[visibility],
    channelName === undefined ? sources[source] : `${sources[source]}, #${channelName}`,
    when && `on ${when}`,
    updatedAt && timeOf(new Date(updatedAt)),
  ].filter((fact) => fact !== undefined);
  return html`<p class="text" id="text-${id}">${text}</p>
    ${question === undefined ? undefined : html`<p class="facts">asked: ${question}</p>`}
    <p class="facts">${facts.map((fact, index) => html`${index === 0 ? '' : ' · '}${fact}`)}</p>`;
}
