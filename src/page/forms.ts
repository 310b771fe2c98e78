import type { CommandForm, CommandReply, ShownItem } from '../core/commands.ts';
import { answerText, hidden, html, type Html } from './html.ts';
import type { Session } from './sign-in.ts';

/** What every form holds: the session's token, and the page to come back to. */
export interface FormContext {
  readonly csrf: string;
  readonly back: string;
}

/** What a page is made from. */
export interface OwnPage {
  /** Of what is shown, where the address names one. */
  readonly id?: string | undefined;
  readonly query: URLSearchParams;
  readonly context: FormContext;
  /** Gives a command, such as `memory show`, of which the person does not see the answer itself. */
  readonly give: (line: string) => Promise<CommandReply>;
}

/** A form that gives a command [Y3]; `content` has its button, and a field `text` for what follows its line. */
export function commandForm(context: FormContext, line: string, content: Html): Html {
  return html`<form method="post" action="/do">
    ${hiddenFields(context)}${hidden('line', line)}${content}
  </form>`;
}

/** The same with a file in its field `file`. */
export function fileForm(context: FormContext, line: string, content: Html): Html {
  return html`<form method="post" action="/do" enctype="multipart/form-data">
    ${hiddenFields(context)}${hidden('line', line)}${content}
  </form>`;
}

function hiddenFields({ csrf, back }: FormContext): Html {
  return html`${hidden('_csrf', csrf)}${hidden('back', back)}`;
}

/** The fields of a form. */
export function fieldsIn(body: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(Object(body)).flatMap(([name, value]): readonly [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return Object.fromEntries(entries);
}

/** The file of a form. */
export function fileIn(body: unknown): Uint8Array | undefined {
  const file: unknown = Object(body)['file'];
  return file instanceof Uint8Array && file.length > 0 ? file : undefined;
}

const labels = {
  pin: 'Pin',
  unpin: 'Unpin',
  share: 'Share',
  hide: 'Only in our DM',
  forget: 'Forget',
} as const;

/** What all buttons on a page belong to that have a line each, so that none needs a form of its own. */
export function buttonsForm(context: FormContext): Html {
  return html`<form id="buttons" method="post" action="/do">${hiddenFields(context)}</form>`;
}

/** The buttons that change one item at once. */
export function itemButtons({ id, isPinned, visibility }: ShownItem): Html[] {
  const commands = [
    isPinned ? 'unpin' : 'pin',
    ...(visibility === 'everywhere' ? [] : ['share' as const]),
    ...(visibility === 'dm' ? [] : ['hide' as const]),
    'forget',
  ] as const;
  return commands.map((command) => {
    const [line, label, text] = [`memory ${command} ${id}`, labels[command], `text-${id}`];
    return html`<button form="buttons" name="line" value="${line}" aria-describedby="${text}">
      ${label}
    </button>`;
  });
}

/** A form with one text; `id` is that of its field. */
export function textForm(
  { line, label, maxChars, value, reason }: CommandForm,
  context: FormContext,
  { id, rows, isFocused }: { readonly id: string; readonly rows: number; readonly isFocused?: true },
): Html {
  return commandForm(
    context,
    line,
    html`${reason === undefined ? undefined : html`<p>${reason}</p>`}
      <label for="${id}">${label}</label>
      <textarea id="${id}" name="text" rows="${rows}" maxlength="${maxChars}" ${isFocused ? 'autofocus' : ''}>
${value}</textarea>
      <button>Save</button>`,
  );
}

/** The answer to the last command. */
export function saidBox(said: Session['said'], context: FormContext): Html {
  if (said === undefined) return html`<div id="said" role="status"></div>`;
  const files = (said.files ?? []).map(
    ({ name, bytes }, index) =>
      html`<p>
        <a href="/files/${said.id}/${index}" download>${name}</a> (${Math.ceil(bytes.length / 1000)} kB)
      </p>`,
  );
  return html`<div id="said" role="status" class="said">${answer(said, context)}${files}</div>`;
}

/** An answer as Discord shows it, with its buttons, and the form that it asks to be filled in. */
function answer(
  { text, buttons = [], form }: Pick<CommandReply, 'text' | 'buttons' | 'form'>,
  context: FormContext,
): Html {
  if (form !== undefined) return textForm(form, context, { id: 'answer', rows: 3, isFocused: true });
  return html`${answerText(text)}${buttons.map(({ label, line }) =>
    line === undefined ? undefined : commandForm(context, line, html`<button>${label}</button>`),
  )}`;
}
