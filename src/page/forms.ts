import type { CommandForm, CommandReply, ShownItem } from '../core/commands.ts';
import { answerText, hidden, html, type Html } from './html.ts';

/** What every form holds: the session's token, and the page to come back to. */
export interface FormContext {
  readonly csrf: string;
  readonly back: string;
}

/** The answer to a command. */
export type Answered = Pick<CommandReply, 'text' | 'buttons' | 'form'> & {
  readonly id: string;
  /** Made at its address whenever it is saved. */
  readonly files?:
    | readonly { readonly name: string; readonly bytes: number; readonly address: string }[]
    | undefined;
};

/** What a page is made from. */
export interface OwnPage {
  /** Of what is shown, where the address names one. */
  readonly id?: string | undefined;
  readonly query: URLSearchParams;
  readonly context: FormContext;
  /** Gives a command, such as `memory show`, of which the person does not see the answer itself. */
  readonly give: (line: string) => Promise<CommandReply>;
  /** Whether no other process answers people [X3]. */
  readonly isAlone: boolean;
}

export const plainForm = 'application/x-www-form-urlencoded';

/**
 * A form that gives a command [Y3]; `content` has its button, and a field `text` for what follows its line, or, where
 * it is sent in parts, the field `file`.
 */
export function commandForm(context: FormContext, line: string, content: Html, enctype = plainForm): Html {
  return html`<form method="post" action="/do" enctype="${enctype}">
    ${hiddenFields(context)}${hidden('line', line)}${content}
  </form>`;
}

function hiddenFields({ csrf, back }: FormContext): Html {
  return html`${hidden('_csrf', csrf)}${hidden('back', back)}`;
}

/** The fields of a form. A browser sends each line break as two characters, which nobody typed. */
export function fieldsIn(body: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(Object(body)).flatMap(([name, value]): readonly [string, string][] =>
    typeof value === 'string' ? [[name, value.replaceAll('\r\n', '\n')]] : [],
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
  return commands.map((command) => lineButton(labels[command], `memory ${command} ${id}`, `text-${id}`));
}

/** One of the form of all buttons; `about` are the ids of what it is about. */
export function lineButton(label: string, line: string, about: string): Html {
  return html`<button form="buttons" name="line" value="${line}" aria-describedby="${about}">
    ${label}
  </button>`;
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
    html`${reason === undefined ? undefined : answerText(reason)}
      <label for="${id}">${label}</label>
      <textarea id="${id}" name="text" rows="${rows}" maxlength="${maxChars}" ${isFocused ? 'autofocus' : ''}>
${value}</textarea>
      <button>${label === wrote ? 'Send again' : 'Save'}</button>`,
  );
}

const wrote = 'What you wrote';
/** What a form may bring; its command judges it. */
const keptMaxChars = 64 * 1024;

/** A form with the text of another one that was not taken [Y1], and why. */
export function keptForm(body: unknown, reason?: string): CommandForm | undefined {
  const { line = '', text = '' } = fieldsIn(body);
  const form = { title: wrote, label: wrote, value: text, maxChars: keptMaxChars, line, reason };
  return text.trim() === '' ? undefined : form;
}

/** The same below a refusal: to be copied, and sent again by who is signed in by then. */
export function keptText(body: unknown, csrf = ''): Html | undefined {
  const form = keptForm(body);
  const { back = '/' } = fieldsIn(body);
  return form && textForm(form, { csrf, back }, { id: 'kept', rows: 10 });
}

/** The answer to the last command. */
export function answerBox(shown: Answered | undefined, context: FormContext): Html {
  if (shown === undefined) return html`<div id="said" role="status"></div>`;
  const files = shown.files?.map(
    ({ name, bytes, address }) =>
      html`<p><a href="${address}" download>${name}</a> (${Math.ceil(bytes / 1000)} kB)</p>`,
  );
  const { text, buttons = [], form } = shown;
  // As Discord shows it; where a form is asked to be filled in, that stands for the answer.
  const answer =
    form === undefined
      ? html`${answerText(text)}${buttons.map(({ label, line }) =>
          line === undefined ? undefined : commandForm(context, line, html`<button>${label}</button>`),
        )}`
      : textForm(form, context, { id: 'answer', rows: 3, isFocused: true });
  return html`<div id="said" role="status" class="said">${answer}${files}</div>`;
}
