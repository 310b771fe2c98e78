import type { ShownNotebook } from '../core/commands.ts';
import { counted } from '../core/text.ts';
import { textForm, type OwnPage } from './forms.ts';
import { answerText, html, type Html } from './html.ts';

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

function fileOf({ path, bytes, summary }: ShownNotebook['files'][number]): Html {
  return html`<li>
    <p class="title">
      <a href="/notebook?file=${encodeURIComponent(path)}" data-key="open ${path}">${path}</a>
    </p>
    <p class="facts">${bytes === 0 ? 'empty' : counted(bytes, 'byte')}${summary && ` · ${summary}`}</p>
  </li>`;
}
