import { html, type SafeHtml } from '@remix-run/html-template';
import type { FastifyReply } from 'fastify';

import type { CommandForm, CommandReply, ShownItem } from '../core/commands.ts';
import type { Session } from './sign-in.ts';

/** A piece of a page: all text that is put into it is escaped [Y5]. */
export type Html = SafeHtml;

export { html };

/** Who is signed in, where they are, and the pages that are theirs, by path. */
export interface Navigation {
  readonly name: string;
  readonly path: string;
  readonly pages: Readonly<Record<string, string>>;
  readonly session: Pick<Session, 'expiresAt' | 'endsAt'>;
}

/** Answers with a whole page, as `layout` makes it. */
export function send(reply: FastifyReply, title: string, content: Html, own?: Navigation) {
  return reply.type('text/html; charset=utf-8').send(layout(title, content, own));
}

/** A whole page of the person who is signed in, or of nobody. */
export function layout(title: string, content: Html, own?: Navigation): string {
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <title>${title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="color-scheme" content="light dark" />
        <link rel="stylesheet" href="/page.css" />
        <script src="/page.js" defer></script>
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
          <a class="home" href="/">Discoclaw</a>
          ${
            own === undefined
              ? undefined
              : html`<form method="post" action="/sign-out">
                  <bdi>${own.name}</bdi> <button>Sign out</button>
                </form>`
          }
        </header>
        ${own === undefined ? undefined : [signedInUntil(own), navigation(own)]}
        <main id="main">${content}</main>
      </body>
    </html>`;
  // Without what indents the templates, which is a sixth of a long list. Each text runs as its own letters do [Y5].
  return page
    .toString()
    .replaceAll(/>\n\s+</gu, '>\n<')
    .replaceAll(/<(?:p|h1|summary|textarea|input(?= id))(?=[\s>])/gu, `$& dir="auto"`);
}

/** The script shows the second line when it comes to that. */
function signedInUntil({ session: { expiresAt, endsAt } }: Navigation): Html {
  const [more, orStay] = expiresAt < endsAt ? [', longer with each use', stay] : [];
  return html`<div id="until" data-live>
    <p class="facts">Signed in until ${timeOf(new Date(expiresAt))}${more}</p>
    <p class="said" role="alert" hidden>Your time here is nearly over. Send what you are writing.${orStay}</p>
  </div>`;
}

const stay = html` <button type="button" data-key="stay">Stay signed in</button>`;

function navigation({ path, pages }: Navigation): Html {
  return html`<nav aria-label="Pages">
    ${Object.entries(pages).map(
      ([each, title]) => html`<a href="${each}" ${each === path ? 'aria-current=page' : ''}>${title}</a>`,
    )}
  </nav>`;
}

function hidden(name: string, value: string): Html {
  return html`<input type="hidden" name="${name}" value="${value}" />`;
}

/** What commands write for Discord: escaped signs, moments, links to messages, code, bold words. Everything else is text. */
const marks =
  /\\(?<sign>[\\`*_~|[#>-])|<t:(?<moment>-?\d{1,11})(?::[a-zA-Z])?>|<(?<link>https:\/\/discord\.com\/channels\/[\d@me/]+)>|`(?<code>[^`\n]+)`|\*\*(?<bold>[^*\n]+)\*\*/gu;

/** The answer of a command as paragraphs, one a line. */
export function answerText(text: string): Html[] {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && line !== '```')
    .map((line) =>
      line.startsWith('-# ')
        ? html`<p><small>${inline(line.slice('-# '.length))}</small></p>`
        : html`<p>${inline(line)}</p>`,
    );
}

function inline(line: string, pattern = marks): (Html | string)[] {
  const parts: (Html | string)[] = [];
  let from = 0;
  for (const { 0: mark, index, groups = {} } of line.matchAll(pattern)) {
    const { sign, moment, link, code, bold } = groups;
    parts.push(line.slice(from, index));
    from = index + mark.length;
    if (sign !== undefined) parts.push(sign);
    else if (moment !== undefined) parts.push(timeOf(new Date(Number(moment) * 1000)));
    else if (link !== undefined) parts.push(html`<a href="${link}" rel="noreferrer">on Discord</a>`);
    else if (code !== undefined) parts.push(html`<code>${code}</code>`);
    else parts.push(html`<strong>${bold ?? ''}</strong>`);
  }
  return [...parts, line.slice(from)];
}

/** What somebody wrote: of Discord's marks its moments alone are shown as such [D8]. */
export function withTimes(text: string): (Html | string)[] {
  return inline(text, /<t:(?<moment>-?\d{1,11})(?::[a-z])?>/giu);
}

/** In UTC; the script shows it in the reader's own time. */
export function timeOf(date: Date): Html {
  const iso = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`;
}

/** What every form holds: the session's token, and the page to come back to. */
export interface FormContext {
  readonly csrf: string;
  readonly back: string;
}

/** The answer to a command. */
export type Answered = Pick<CommandReply, 'text' | 'buttons' | 'form'> & {
  readonly id: string;
  /** It holds a secret. */
  readonly isShownOnce?: boolean | undefined;
  /** Made at its address whenever it is saved. */
  readonly files?:
    | readonly { readonly name: string; readonly bytes: number; readonly address: string }[]
    | undefined;
};

/** What a page is made from. */
export interface OwnPage {
  readonly userId: string;
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
export function itemButtons({ id, isPinned, visibility, isAhead }: ShownItem): Html[] {
  const commands = [
    isPinned ? 'unpin' : 'pin',
    ...(visibility === 'everywhere' ? [] : ['share' as const]),
    ...(visibility === 'dm' ? [] : ['hide' as const]),
    'forget',
  ] as const;
  return [
    ...commands.map((command) => lineButton(labels[command], `memory ${command} ${id}`, `text-${id}`)),
    ...(isAhead === true ? [lineButton('Remind me', `reminders item ${id}`, `text-${id}`)] : []),
  ];
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
