import type { ShownCard, ShownItem, ShownMemory } from '../core/commands.ts';
import { counted, searchForm } from '../core/text.ts';
import {
  buttonsForm,
  commandForm,
  itemButtons,
  lineButton,
  textForm,
  type FormContext,
  type OwnPage,
  answerText,
  html,
  timeOf,
  withTimes,
  type Html,
} from './html.ts';

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

const sources = {
  manual: 'you told me',
  discord: 'noticed while talking',
  summary: 'noticed afterwards',
  elsewhere: 'from another assistant',
};
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
  return html`<section class="remember">
      ${commandForm(
        context,
        'memory remember',
        html`<label for="text">Remember something</label>
          <textarea id="text" name="text" rows="2" maxlength="500" required></textarea>
          <button>Remember</button>`,
      )}
    </section>
    ${items.length === 0 ? undefined : filterForm(items, query)}
    <section id="list" data-live aria-label="Items">
      <p class="count">${isAll ? '' : `${shown.length} of `}${counted(items.length, 'item')}</p>
      ${shown.length > 0 || items.length === 0 ? undefined : html`<p>Nothing matches. <a href="/">Show all items</a></p>`}
      ${items.length === 0 ? html`<p>Nothing yet. Write above what I should remember, or tell me on Discord.</p>` : undefined}
      <ul class="items">
        ${shown.map((item) => html`<li>${itemCard(item)}</li>`)}
      </ul>
      ${buttonsForm(context)}
    </section>`;
}

function stateOf({ mode, pause }: ShownMemory, context: FormContext): Html {
  const isPaused = pause !== undefined;
  return html`<section id="state" class="state" data-live aria-label="What I keep">
    ${commandForm(
      context,
      'memory mode',
      html`<label for="mode">Mode</label>
        <select id="mode" name="choice">
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
  return Object.entries(values).map(
    ([value, label]) =>
      html`<option value="${value}" ${value === chosen ? 'selected' : ''}>${label}</option>`,
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
function itemFacts(item: ShownItem): Html {
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
  return html`<p class="text" id="text-${id}">${withTimes(text)}</p>
    ${question === undefined ? undefined : html`<p class="facts">asked: ${withTimes(question)}</p>`}
    <p class="facts">${facts.map((fact, index) => html`${index === 0 ? '' : ' · '}${fact}`)}</p>`;
}

/** One item: what it says, a form that changes it, where it comes from, and what it said before. */
export async function itemPage({ id = '', context, give }: OwnPage): Promise<Html | undefined> {
  const lines = ['memory show', `memory why ${id}`, `memory edit ${id}`];
  const [shown, why, edit] = await Promise.all(lines.map(give));
  const data = shown?.data;
  const item = data?.kind === 'memory' ? data.items?.find((each) => each.id === id) : undefined;
  if (item === undefined || why === undefined || edit?.form === undefined) return undefined;
  return html`<p><a href="/">All items</a></p>
    <h1>An item</h1>
    <section id="item" data-live aria-label="The item">
      ${itemFacts(item)}
      <div class="acts">${itemButtons(item)}</div>
      ${buttonsForm(context)}
    </section>
    <section>
      <h2>Edit</h2>
      ${
        item.visibility === 'dm'
          ? undefined
          : html`<p class="facts">
              What you write here is said in our DM: the item is for our DM until you share it.
            </p>`
      }
      ${textForm(edit.form, context, { id: 'text', rows: 3 })}
    </section>
    <section id="why" data-live>
      <h2>Where it comes from, and what it said before</h2>
      ${answerText(why.text.replace(/^- \[.*\n/u, ''))}
    </section>`;
}

/** What waits for an answer: proposals [K9], then what may not hold any more [K16]. */
export const reviewPage = (own: OwnPage): Promise<Html> =>
  cardsPage(own, 'To review', ['memory proposals', 'memory review']);

/** What its person is to be reminded of [RM5]. */
export const remindersPage = (own: OwnPage): Promise<Html> => cardsPage(own, 'Reminders', ['reminders']);

async function cardsPage({ context, give }: OwnPage, title: string, lines: readonly string[]): Promise<Html> {
  const replies = await Promise.all(lines.map(give));
  const parts = replies.map(({ text, data }) =>
    data !== undefined && 'cards' in data ? data.cards.map(cardOf) : answerText(text),
  );
  return html`<h1>${title}</h1>
    <section id="list" data-live aria-label="${title}">
      ${parts.every((part) => part.length === 0) ? html`<p>Nothing to review.</p>` : parts}
      ${buttonsForm(context)}
    </section>`;
}

function cardOf({ question, items, buttons }: ShownCard): Html {
  const texts = items.map(({ id }) => `text-${id}`).join(' ');
  return html`<article class="card" aria-labelledby="${texts}">
    <h2>${withTimes(question)}</h2>
    ${items.map(itemFacts)}
    <div class="acts">${buttons.map(({ label, line = '' }) => lineButton(label, line, texts))}</div>
  </article>`;
}
