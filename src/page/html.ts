import { html, type SafeHtml } from '@remix-run/html-template';
import type { FastifyReply } from 'fastify';

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

export function hidden(name: string, value: string): Html {
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
