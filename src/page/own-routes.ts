import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { CommandCall } from '../core/message.ts';
import type { CommandHandlers, CommandReply } from '../core/commands.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import { answerPage, answersPage } from './answers.ts';
import { dataPage, conversationPage, conversationsPage, notebookPage, searchPage } from './notes.ts';
import {
  fieldsIn,
  fileIn,
  answerBox,
  keptForm,
  keptText,
  type OwnPage,
  type Answered,
  answerText,
  html,
  send,
  type Html,
} from './html.ts';
import { actElsewhere, elsewherePage, type Elsewhere } from './elsewhere.ts';
import { itemPage, itemsPage, remindersPage, reviewPage } from './items.ts';
import type { Session } from './sign-in.ts';
import { statusPage } from './status.ts';

export interface OwnRoutesOptions {
  /** Commands as they are given on Discord, in order with those. Never rejects. */
  readonly command: CommandHandlers['command'];
  /** As for a written command, from `!` on. */
  readonly parseCommand: (text: string) => CommandCall | undefined;
  readonly clock: Clock;
  /** Whether no other process answers people [X3]. */
  readonly isAlone: boolean;
  /** How other assistants reach people's memory; absent where they do not. */
  readonly elsewhere: Elsewhere | undefined;
  /** Whether a session still holds: its person may just have had everything erased. */
  readonly isOpen: (request: FastifyRequest) => Promise<boolean>;
  readonly live: LivePages;
  /** By the hash of a session, the answer to its last command, shown on the page that follows it. */
  readonly answersTo: {
    get(hash: string): Answered | undefined;
    set(hash: string, answer: Answered): unknown;
    delete(hash: string): unknown;
  };
}

/** Between the clicks of a double one. */
const doubleClickMs = 2000;
/** Only for paths. */
const anyHost = 'http://page';
/** Ids that a millisecond has. */
const idsAtOnce = 4096;

/** In the order in which they are offered. */
const pages = {
  '/': 'Items',
  '/search': 'Search',
  '/review': 'Review',
  '/reminders': 'Reminders',
  '/conversations': 'Conversations',
  '/notebook': 'Notebook',
  '/answers': 'Answers',
  '/data': 'Your data',
};
const elsewherePages = { '/elsewhere': 'Use elsewhere' };
const ownersPages = { '/status': 'Status' };

const gone = html`<h1>Not there</h1>
  <p>It is not there, or no longer. <a href="/">Your memory</a></p>`;

/**
 * What a person sees and does who is signed in; all of it by commands that they give in their direct messages [Y3]. Returns
 * what gives them, for other assistants too.
 */
export function addOwnRoutes(server: FastifyInstance, options: OwnRoutesOptions) {
  const { answersTo, elsewhere } = options;
  const deeds = new Map<string, { readonly body: unknown; readonly answer: Promise<Answered> }>();
  let lastId = 0;

  /** Gives a command; `isShown` where the person sees what it answers. `by` is the token of another assistant [EW3]. */
  async function give(
    { person, place }: Pick<Session, 'person' | 'place'>,
    line: string,
    isShown: boolean,
    file?: Uint8Array,
    by?: string,
  ): Promise<CommandReply> {
    const command = options.parseCommand(`!${line}`);
    if (command === undefined) return { text: 'There is no such command.' };
    const now = options.clock();
    lastId = (lastId + 1) % idsAtOnce;
    const reply = await options.command({
      id: String(BigInt(snowflakeAt(now)) + BigInt(lastId)),
      command,
      speaker: person,
      place,
      ephemeral: true,
      files: file && [{ name: 'file', size: file.length, url: '', bytes: file }],
      takesFiles: true,
      elsewhere: by,
      at: now.toISOString(),
    });
    await reply.onReplied?.(isShown);
    return reply;
  }

  /** A page of the person's own, below the answer to what was done last. `make` resolves with nothing where it shows what is gone. */
  function page(path: string, title: string, make: (own: OwnPage) => Promise<Html | undefined>): void {
    server.get<{ Params: { id?: string } }>(path, async (request, reply) => {
      const session = sessionOf(request);
      const { pathname, searchParams: query } = new URL(request.url, anyHost);
      const answerId = query.get('said');
      query.delete('said');
      const context = {
        csrf: session.csrf,
        back: query.size === 0 ? pathname : `${pathname}?${query.toString()}`,
      };
      const content = await make({
        userId: session.person.id,
        id: request.params.id,
        query,
        context,
        give: (line) => give(session, line, false),
        isAlone: options.isAlone,
      });
      if (content === undefined) reply.code(404);
      const last = answersTo.get(session.hash);
      const answer = last?.id === answerId ? last : undefined;
      if (answer?.isShownOnce === true) answersTo.delete(session.hash);
      const main = html`${answerBox(answer, context)}${content ?? gone}`;
      const { name, isOwner } = session.person;
      const shown = { ...pages, ...(elsewhere && elsewherePages), ...(isOwner && ownersPages) };
      return send(reply, title, main, { name, path: pathname, pages: shown, session });
    });
  }

  page('/', 'Your memory', itemsPage);
  page('/items/:id', 'An item', itemPage);
  page('/search', 'Search', searchPage);
  page('/data', 'Your data', dataPage);
  page('/review', 'To review', reviewPage);
  page('/reminders', 'Reminders', remindersPage);
  page('/conversations', 'Conversations', conversationsPage);
  page('/conversations/:id', 'A conversation', conversationPage);
  page('/notebook', 'Notebook', notebookPage);
  page('/answers', 'What I was given', answersPage);
  page('/answers/:id', 'One answer', answerPage);
  page('/status', 'Status', statusPage);
  if (elsewhere !== undefined)
    page('/elsewhere', 'Use my memory elsewhere', (own) => elsewherePage(elsewhere, own));

  /** Does what a form says. The second click of a double one gets the answer to the first. */
  function act(session: Session, body: unknown): Promise<Answered> {
    const last = deeds.get(session.hash);
    if (last !== undefined && isDeepStrictEqual(last.body, body)) return last.answer;
    const answer = answerTo(session, body);
    deeds.set(session.hash, { body, answer });
    setTimeout(() => deeds.delete(session.hash), doubleClickMs).unref();
    return answer;
  }

  async function answerTo(session: Session, body: unknown): Promise<Answered> {
    const { line = '', choice, text } = fieldsIn(body);
    const whole = [line, choice, text].filter((part) => part !== undefined).join(' ');
    const ofTokens = elsewhere && (await actElsewhere(elsewhere, session, whole));
    const reply = ofTokens ?? (await give(session, whole, true, fileIn(body)));
    // What was taken can be undone or waits for a yes, by a button.
    const isOffer = (reply.buttons ?? []).length > 0 || ofTokens?.isShownOnce === true;
    const form = reply.form ?? (isOffer ? undefined : keptForm(body, reply.text));
    const files = reply.files?.map(({ name, bytes }, index) => ({
      name,
      bytes: bytes.length,
      address: `/files/${session.hash}/${index}`,
    }));
    const { text: answer, buttons } = reply;
    return { text: answer, buttons, form, files, isShownOnce: ofTokens?.isShownOnce, id: randomUUID() };
  }

  server.post('/do', async (request, reply) => {
    const session = sessionOf(request);
    const answer = await act(session, request.body);
    // There is no page of theirs to come back to.
    if (!(await options.isOpen(request)))
      return send(
        reply,
        'Erased',
        html`<h1>Erased</h1>
          ${answerText(answer.text)} ${keptText(request.body)}`,
      );
    answersTo.set(session.hash, answer);
    return reply.redirect(returnAddress(fieldsIn(request.body)['back'] ?? '/', answer.id), 303);
  });

  /** A part of all that is held, for the session that asked for it [K10]. */
  server.get<{ Params: { hash: string; index: string } }>('/files/:hash/:index', async (request, reply) => {
    const session = sessionOf(request);
    const { hash, index } = request.params;
    const { files } = hash === session.hash ? await give(session, 'memory export', true) : {};
    const file = files?.[Number(index)];
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
    const write = (text: string): void => {
      raw.write(text);
      // The last line for a session that is over.
      const isOpen = options.isOpen(request).catch(() => true);
      void isOpen.then((is) => is || raw.end());
    };
    raw.once('close', options.live.add(sessionOf(request).person.id, { write, close: () => void raw.end() }));
  });
  return give;
}

export type GiveCommand = ReturnType<typeof addOwnRoutes>;

/** Somebody's open page. */
interface OpenPage {
  readonly write: (text: string) => void;
  readonly close: () => void;
}

const pagesPerPerson = 10;

export type LivePages = ReturnType<typeof createLivePages>;

/** The open pages of each person, which look again when something of theirs changes [Y3]. */
export function createLivePages() {
  const openPages = new Map<string, readonly OpenPage[]>();
  return {
    /** The returned function takes the page away. The oldest of too many is closed. */
    add(userId: string, page: OpenPage): () => void {
      const open = [...(openPages.get(userId) ?? []), page];
      for (const old of open.slice(0, -pagesPerPerson)) old.close();
      openPages.set(userId, open.slice(-pagesPerPerson));
      return () => {
        const left = (openPages.get(userId) ?? []).filter((each) => each !== page);
        if (left.length === 0) openPages.delete(userId);
        else openPages.set(userId, left);
      };
    },
    tell(userId: string): void {
      for (const { write } of openPages.get(userId) ?? []) write('data: changed\n\n');
    },
  };
}

function sessionOf({ session }: FastifyRequest): Session {
  if (session === undefined) throw new Error('Nobody comes here who is not signed in');
  return session;
}

/** An address of this very server, with the answer that it is to show. */
function returnAddress(back: string, answer: string): string {
  const { pathname, searchParams } = new URL(URL.canParse(back, anyHost) ? back : '/', anyHost);
  searchParams.set('said', answer);
  // Two slashes would name another host.
  return `/${pathname.replace(/^\/+/u, '')}?${searchParams.toString()}`;
}
