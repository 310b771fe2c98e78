import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import type { CommandHandlers, CommandReply, ShownMemory } from '../core/commands.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import type { Clock } from '../core/time.ts';
import { fieldsIn, isFormCommand, optionsIn, saidBox, type FormContext } from './forms.ts';
import { html, layout, type Html } from './html.ts';
import { itemPage } from './item.ts';
import { addressOf, itemsPage, readFilter } from './items.ts';
import type { LivePages } from './live.ts';
import type { Session } from './sign-in.ts';

export interface OwnRoutesOptions {
  /** Commands as they are given on Discord, in order with those. Never rejects. */
  readonly command: CommandHandlers['command'];
  readonly clock: Clock;
  /** Text that cannot be guessed and may stand in an address. */
  readonly randomToken: () => string;
  readonly live: LivePages;
}

/** Only for paths. */
const anyHost = 'http://page';
/** Ids that a millisecond has. */
const idsAtOnce = 4096;

/** What a person sees and does who is signed in; all of it by commands that they give in their direct messages [Y3]. */
export function addOwnRoutes(server: FastifyInstance, options: OwnRoutesOptions): void {
  let given = 0;

  /** Gives a command of `memory`; `isTold` where the person sees what it answers. */
  async function give(
    { person, place }: Session,
    subcommand: string,
    values: Readonly<Record<string, string>> = {},
    isTold = false,
  ): Promise<CommandReply> {
    const now = options.clock();
    given = (given + 1) % idsAtOnce;
    const reply = await options.command({
      id: String(BigInt(snowflakeAt(now)) + BigInt(given)),
      command: { name: 'memory', subcommand, options: values },
      speaker: person,
      place,
      ephemeral: true,
      at: now.toISOString(),
    });
    await reply.onReplied?.(isTold);
    return reply;
  }

  /** A page of what is remembered, below the answer to what was done last. */
  async function show(
    {
      session,
      reply,
      back,
    }: { readonly session: Session; readonly reply: FastifyReply; readonly back: string },
    content: (memory: ShownMemory, context: FormContext) => Html,
  ): Promise<FastifyReply> {
    const { text, data } = await give(session, 'show');
    const context = { csrf: reply.generateCsrf(), back };
    const asked = new URL(reply.request.url, anyHost).searchParams.get('said');
    const said = session.said?.id === asked ? session.said : undefined;
    const main = data === undefined ? html`<p>${text}</p>` : content(data, context);
    const page = layout('Your memory', html`${saidBox(said, context)}${main}`, session.person.name);
    return reply.type('text/html; charset=utf-8').send(page);
  }

  server.get('/', (request, reply) => {
    const filter = readFilter(new URL(request.url, anyHost).searchParams);
    const asked = { session: sessionOf(request), reply, back: addressOf(filter) };
    return show(asked, (memory, context) => itemsPage(memory, filter, context));
  });

  server.get<{ Params: { id: string } }>('/items/:id', async (request, reply) => {
    const { id } = request.params;
    const session = sessionOf(request);
    const why = await give(session, 'why', { id });
    return show({ session, reply, back: `/items/${encodeURIComponent(id)}` }, ({ items }, context) => {
      const item = items?.find((each) => each.id === id);
      if (item === undefined) reply.code(404);
      return itemPage(item, why, context);
    });
  });

  server.post<{ Params: { command: string } }>('/do/:command', async (request, reply) => {
    const { command } = request.params;
    if (!isFormCommand(command)) return reply.callNotFound();
    const session = sessionOf(request);
    const fields = fieldsIn(request.body);
    const { item } = fields;
    // An id that is gone would be taken for words.
    const isGone = item !== undefined && !(await has(session, item));
    const { text, buttons = [] } = isGone
      ? { text: 'There is no such item, or no longer.' }
      : await give(session, command, optionsIn(command, fields), true);
    session.said = { id: options.randomToken().slice(0, 8), text, buttons };
    return reply.redirect(returnAddress(fields['back'] ?? '/', session.said.id), 303);
  });

  async function has(session: Session, id: string): Promise<boolean> {
    const { data } = await give(session, 'show');
    return data?.items?.some((item) => item.id === id) === true;
  }

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
