import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { CommandCall } from '../core/chat.ts';
import type { CommandHandlers, CommandReply } from '../core/commands.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import { answerPage, answersPage } from './answers.ts';
import { conversationPage, conversationsPage } from './conversations.ts';
import { dataPage } from './data.ts';
import { fieldsIn, fileIn, saidBox, type OwnPage } from './forms.ts';
import { answerText, html, send, type Html } from './html.ts';
import { itemPage } from './item.ts';
import { itemsPage } from './items.ts';
import type { LivePages } from './live.ts';
import { notebookPage } from './notebook.ts';
import { reviewPage } from './review.ts';
import { searchPage } from './search.ts';
import type { Session } from './sign-in.ts';
import { statusPage } from './status.ts';

export interface OwnRoutesOptions {
  /** Commands as they are given on Discord, in order with those. Never rejects. */
  readonly command: CommandHandlers['command'];
  /** As for a written command, from `!` on. */
  readonly parseCommand: (text: string) => CommandCall | undefined;
  readonly clock: Clock;
  /** Text that cannot be guessed and may stand in an address. */
  readonly randomToken: () => string;
  readonly live: LivePages;
}

/** Only for paths. */
const anyHost = 'http://page';
/** Ids that a millisecond has. */
const idsAtOnce = 4096;

/** In the order in which they are offered. */
const pages = {
  '/': 'Items',
  '/search': 'Search',
  '/review': 'Review',
  '/conversations': 'Conversations',
  '/notebook': 'Notebook',
  '/answers': 'Answers',
  '/data': 'Your data',
};
const ownersPages = { '/status': 'Status' };

const gone = html`<h1>Not there</h1>
  <p>It is not there, or no longer. <a href="/">Your memory</a></p>`;

/** What a person sees and does who is signed in; all of it by commands that they give in their direct messages [Y3]. */
export function addOwnRoutes(server: FastifyInstance, options: OwnRoutesOptions): void {
  let given = 0;

  /** Gives a command; `isTold` where the person sees what it answers. */
  async function give(
    { person, place }: Session,
    line: string,
    isTold: boolean,
    file?: Uint8Array,
  ): Promise<CommandReply> {
    const command = options.parseCommand(`!${line}`);
    if (command === undefined) return { text: 'There is no such command.' };
    const now = options.clock();
    given = (given + 1) % idsAtOnce;
    const reply = await options.command({
      id: String(BigInt(snowflakeAt(now)) + BigInt(given)),
      command,
      speaker: person,
      place,
      ephemeral: true,
      files: file && [{ name: 'file', size: file.length, url: '', bytes: file }],
      takesFiles: true,
      at: now.toISOString(),
    });
    await reply.onReplied?.(isTold);
    return reply;
  }

  /** A page of the person's own, below the answer to what was done last. `make` resolves with nothing where it shows what is gone. */
  function page(path: string, title: string, make: (asked: OwnPage) => Promise<Html | undefined>): void {
    server.get<{ Params: { id?: string } }>(path, async (request, reply) => {
      const session = sessionOf(request);
      const { pathname, searchParams: query } = new URL(request.url, anyHost);
      const saidId = query.get('said');
      query.delete('said');
      const context = {
        csrf: reply.generateCsrf(),
        back: query.size === 0 ? pathname : `${pathname}?${query.toString()}`,
      };
      const content = await make({
        id: request.params.id,
        query,
        context,
        give: (line) => give(session, line, false),
      });
      if (content === undefined) reply.code(404);
      const said = session.said?.id === saidId ? session.said : undefined;
      const main = html`${saidBox(said, context)}${content ?? gone}`;
      const { name, isOwner } = session.person;
      const shown = isOwner ? { ...pages, ...ownersPages } : pages;
      return send(reply, title, main, { name, path: pathname, pages: shown });
    });
  }

  page('/', 'Your memory', itemsPage);
  page('/items/:id', 'An item', itemPage);
  page('/search', 'Search', searchPage);
  page('/data', 'Your data', dataPage);
  page('/review', 'To review', reviewPage);
  page('/conversations', 'Conversations', conversationsPage);
  page('/conversations/:id', 'A conversation', conversationPage);
  page('/notebook', 'Notebook', notebookPage);
  page('/answers', 'What I was given', answersPage);
  page('/answers/:id', 'One answer', answerPage);
  page('/status', 'Status', statusPage);

  server.post('/do', async (request, reply) => {
    const session = sessionOf(request);
    const { line = '', text, back = '/' } = fieldsIn(request.body);
    const whole = text === undefined ? line : `${line} ${text}`;
    const said = await give(session, whole, true, fileIn(request.body));
    // There is no page of theirs to come back to.
    if (session.isOver === true)
      return send(
        reply,
        'Erased',
        html`<h1>Erased</h1>
          ${answerText(said.text)}`,
      );
    session.said = { ...said, id: options.randomToken().slice(0, 8) };
    return reply.redirect(returnAddress(back, session.said.id), 303);
  });

  server.get<{ Params: { said: string; index: string } }>('/files/:said/:index', (request, reply) => {
    const { said } = sessionOf(request);
    const file = said?.id === request.params.said ? said.files?.[Number(request.params.index)] : undefined;
    if (file === undefined) return reply.callNotFound();
    reply.header('content-disposition', `attachment; filename="${file.name}"`);
    return reply.type('application/zip').send(file.bytes);
  });

  server.get('/events', { exposeHeadRoute: false }, (request, reply) => {
    const { raw } = reply.hijack();
    raw.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      // Otherwise nginx gathers them.
      'x-accel-buffering': 'no',
    });
    raw.write(': open\n\n');
    const write = (text: string): void => void raw.write(text);
    raw.once('close', options.live.add(sessionOf(request).person.id, { write, close: () => void raw.end() }));
  });
}

function sessionOf({ session }: FastifyRequest): Session {
  if (session === undefined) throw new Error('Nobody comes here who is not signed in');
  return session;
}

/** An address of this very server, with the answer that it is to show. */
function returnAddress(back: string, said: string): string {
  const { pathname, searchParams } = new URL(URL.canParse(back, anyHost) ? back : '/', anyHost);
  searchParams.set('said', said);
  // Two slashes would name another host.
  return `/${pathname.replace(/^\/+/u, '')}?${searchParams.toString()}`;
}
