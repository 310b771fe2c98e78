import type { CommandButton } from '../core/chat.ts';
import type { ShownItem } from '../core/commands.ts';
import { answerText, hidden, html, type Html } from './html.ts';
import type { Session } from './sign-in.ts';

/** What every form holds: the session's token, and the page to come back to. */
export interface FormContext {
  readonly csrf: string;
  readonly back: string;
}

function common({ csrf, back }: FormContext): Html {
  return html`${hidden('_csrf', csrf)}${hidden('back', back)}`;
}

/** The commands that a form may give, each with its options, which are the names of its fields [Y3]. */
const formCommands = {
  remember: ['text'],
  edit: ['id', 'text'],
  forget: ['target'],
  pin: ['id'],
  unpin: ['id'],
  share: ['id'],
  hide: ['id'],
  undo: ['id'],
  mode: ['value'],
  pause: [],
  resume: [],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type FormCommand = keyof typeof formCommands;

export function isFormCommand(name: string): name is FormCommand {
  return Object.hasOwn(formCommands, name);
}

/** The options of a command as a form posted them, `item` being the first; other fields mean nothing. */
export function optionsIn(
  command: FormCommand,
  { item, ...fields }: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const names: readonly string[] = formCommands[command];
  return Object.fromEntries(
    names.flatMap((name, index) => {
      const value = (index === 0 ? item : undefined) ?? fields[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The fields of a form; of several with one name, none counts. */
export function fieldsIn(body: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(Object(body)).flatMap(([name, value]): readonly [string, string][] =>
    typeof value === 'string' ? [[name, value]] : [],
  );
  return Object.fromEntries(entries);
}

/** A form that gives one command; `content` has its fields and the button. */
export function commandForm(context: FormContext, command: FormCommand, content: Html): Html {
  return html`<form method="post" action="/do/${command}">${common(context)}${content}</form>`;
}

const labels = {
  pin: 'Pin',
  unpin: 'Unpin',
  share: 'Share',
  hide: 'Only in our DM',
  forget: 'Forget',
} as const;

/** The buttons that change one item at once. */
export function formsOf({ id, text, isPinned, visibility }: ShownItem, context: FormContext): Html {
  const commands = [
    isPinned ? 'unpin' : 'pin',
    ...(visibility === 'everywhere' ? [] : ['share' as const]),
    ...(visibility === 'dm' ? [] : ['hide' as const]),
    'forget',
  ] as const;
  return html`<form method="post">
    ${common(context)}${hidden('item', id)}
    ${commands.map(
      (command) =>
        html`<button
          formaction="/do/${command}"
          data-key="${command} ${id}"
          aria-label="${labels[command]}: ${text}"
        >
          ${labels[command]}
        </button>`,
    )}
  </form>`;
}

/** The answer to the last command, with what can be done about it, such as undoing it. */
export function saidBox(said: Session['said'], context: FormContext): Html {
  if (said === undefined) return html`<div id="said" role="status"></div>`;
  return html`<div id="said" role="status" class="said">
    ${answerText(said.text)}${said.buttons.map((button) => buttonForm(button, context))}
  </div>`;
}

/** A button of an answer as a form; nothing where the page has no such command. */
function buttonForm({ label, line = '' }: CommandButton, context: FormContext): Html | undefined {
  const [, command = '', value = ''] = /^memory (\w+) (.+)$/su.exec(line) ?? [];
  if (!isFormCommand(command)) return undefined;
  if (command === 'edit') return html`<p><a href="/items/${value}">${label}</a></p>`;
  const [option] = formCommands[command];
  if (option === undefined) return undefined;
  return commandForm(context, command, html`${hidden(option, value)}<button>${label}</button>`);
}
