import { commandForm, type OwnPage } from './forms.ts';
import { html, type Html } from './html.ts';

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
