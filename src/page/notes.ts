import type { ShownFile, ShownResult } from '../core/commands.ts';
import { clipAtWord, counted, toSingleLine } from '../core/text.ts';
import { commandForm, textForm, type OwnPage, answerText, html, type Html } from './html.ts';
import { places } from './items.ts';

/** Of each summary in the list. */
const listedMaxChars = 300;

/** Every conversation with the beginning of its summary. */
export async function conversationsPage({ give }: OwnPage): Promise<Html> {
  const { text, data } = await give('memory conversations');
  const shown = data?.kind === 'conversations' ? data.conversations : [];
  return html`<h1>Conversations</h1>
    ${shown.length === 0 ? html`<p>${text}</p>` : undefined}
    <ul class="items" id="list" data-live>
      ${shown.map(
        ({ channelId, title, summary }) =>
          html`<li>
            <p class="title">
              <a href="/conversations/${channelId}" data-key="open ${channelId}">${title}</a>
            </p>
            <p class="facts">
              ${summary === undefined ? 'No summary.' : clipAtWord(toSingleLine(summary), listedMaxChars)}
            </p>
          </li>`,
      )}
    </ul>`;
}

/** One conversation: its summary, and what was noted of it. */
export async function conversationPage({ id = '', context, give }: OwnPage): Promise<Html | undefined> {
  const { data } = await give(`memory conversations ${id}`);
  const [shown] = data?.kind === 'conversations' ? data.conversations : [];
  if (shown === undefined) return undefined;
  const { title, link, summary, files } = shown;
  return html`<p><a href="/conversations">All conversations</a></p>
    <h1>${title}</h1>
    <p><a href="${link}" rel="noreferrer">Open it on Discord</a></p>
    <section id="summary" data-live>
      <h2>Summary</h2>
      <p class="note">${summary ?? 'None yet.'}</p>
      ${
        summary === undefined
          ? undefined
          : commandForm(
              context,
              `memory reset rolling ${id}`,
              html`<button data-key="reset">Clear the summary</button>`,
            )
      }
    </section>
    <section id="notes" data-live>
      ${files.map(
        ({ path, text }) =>
          html`<h2>${path}</h2>
            <p class="note">${text.trim()}</p>`,
      )}
    </section>`;
}

const rows = 20;

/** The files of the notebook; of the one that the address names, a form with all of it [N9]. */
export async function notebookPage({ query, context, give }: OwnPage): Promise<Html> {
  const path = query.get('file')?.trim() ?? '';
  const { text, data, form } = await give(`memory notebook ${path}`);
  if (path !== '')
    return html`<p><a href="/notebook">All files</a></p>
      <h1>${form?.label ?? 'Not there'}</h1>
      ${form === undefined ? answerText(text) : textForm(form, context, { id: 'text', rows })}`;
  return html`<h1>Your notebook</h1>
    <p class="facts">What I keep for our direct messages, as you and I write it.</p>
    ${data?.kind === 'notebook' ? undefined : answerText(text)}
    <ul class="items" id="list" data-live>
      ${data?.kind === 'notebook' ? data.files.map(fileOf) : undefined}
    </ul>
    <form method="get" action="/notebook">
      <label for="file">Open a file, or begin one, such as topics/rust.md</label>
      <input id="file" name="file" required /> <button>Open</button>
    </form>`;
}

function fileOf({ path, bytes, summary }: ShownFile): Html {
  return html`<li>
    <p class="title">
      <a href="/notebook?file=${encodeURIComponent(path)}" data-key="open ${path}">${path}</a>
    </p>
    <p class="facts">${bytes === 0 ? 'empty' : counted(bytes, 'byte')}${summary && ` · ${summary}`}</p>
  </li>`;
}

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

function resultOf({ text, date, visibility, origin }: ShownResult): Html {
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

/** Taking along, bringing and erasing all that is held [K10] [K11]. */
export async function dataPage({ context }: OwnPage): Promise<Html> {
  return html`<h1>Your data</h1>
    <section>
      <h2>Take it along</h2>
      <p>An archive with all that I hold about you: items, conversations, summaries, notes and settings.</p>
      ${commandForm(context, 'memory export', html`<button>Export</button>`)}
    </section>
    <section>
      <h2>Bring memories</h2>
      <p>
        An export of mine, the memories of ChatGPT, Claude or another assistant as JSON or CSV, or a text with
        one memory a line. I show you what I would remember before I store it.
      </p>
      ${commandForm(
        context,
        'memory import',
        html`<label for="file">A file of at most 10 MB</label>
          <input id="file" name="file" type="file" required />
          <button>Look into the file</button>`,
        'multipart/form-data',
      )}
      ${commandForm(
        context,
        'memory import',
        html`<label for="list">Or a list, one memory a line</label>
          <textarea id="list" name="text" rows="4" maxlength="20000" required></textarea>
          <button>Look at the list</button>`,
      )}
      ${commandForm(context, 'memory import', html`<button>How to ask another assistant</button>`)}
    </section>
    <section>
      <h2>Erase one matter</h2>
      <p>Erases for good whatever says these words, in all our conversations. I ask before I do it.</p>
      ${commandForm(
        context,
        'memory purge',
        html`<label for="words">Words</label>
          <input id="words" name="text" maxlength="500" required />
          <button>Erase what says this</button>`,
      )}
    </section>
    <section>
      <h2>Erase everything</h2>
      <p>Shows what that is, and asks before it is done. It cannot be undone.</p>
      ${commandForm(context, 'memory erase', html`<button>Erase everything about me</button>`)}
    </section>`;
}
