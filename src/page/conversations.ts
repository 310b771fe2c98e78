import { clipAtWord, toSingleLine } from '../core/text.ts';
import { commandForm, type OwnPage } from './forms.ts';
import { html, type Html } from './html.ts';

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
        ({ channelId, title, summary, notes }) =>
          html`<li>
            <p class="title">
              <a href="/conversations/${channelId}" data-key="open ${channelId}">${title}</a>
            </p>
            <p class="facts">
              ${notes.length === 0 ? '' : `${notes.length} of your notes in the channel. `}${
                summary === undefined ? 'No summary.' : clipAtWord(toSingleLine(summary), listedMaxChars)
              }
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
  const { title, link, summary, files, notes } = shown;
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
      ${notes.length === 0 ? undefined : html`<h2>Your notes in the channel</h2>`}
      ${notes.map(
        (note) =>
          html`<p class="note" id="text-${note.id}">${note.text}</p>
            ${commandForm(
              context,
              `memory forget ${note.id}`,
              html`<button data-key="forget ${note.id}" aria-describedby="text-${note.id}">Forget</button>`,
            )}`,
      )}
      ${files.map(
        ({ path, text }) =>
          html`<h2>${path}</h2>
            <p class="note">${text.trim()}</p>`,
      )}
    </section>`;
}
