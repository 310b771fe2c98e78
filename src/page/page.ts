import { STATUS_CODES } from 'node:http';

import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';

import { referenceTo, withReference } from '../core/errors.ts';
import { lruCache } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Place } from '../core/place.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import { type Answered, fieldsIn, keptText, plainForm, html, send, type Html } from './html.ts';
import { addOwnRoutes, createLivePages, type GiveCommand, type OwnRoutesOptions } from './own-routes.ts';
import { script } from './script.ts';
import { longestSessionMs, sessionMs, type Session, type SignIn } from './sign-in.ts';
import { style } from './style.ts';

export interface PageOptions extends Pick<
  OwnRoutesOptions,
  'command' | 'parseCommand' | 'clock' | 'isAlone'
> {
  readonly signIn: SignIn;
  /** Whether other assistants reach people's own memory [EW3]. */
  readonly hasMcp: boolean;
  readonly isOwner: (userId: string) => boolean;
  /** 0 for any that is free. */
  readonly port: number;
  readonly host: string;
  /** Where people reach it, such as `https://memory.example.org`. Default: where it listens. */
  readonly url?: string | undefined;
  /** A person's direct messages. Rejects where Discord cannot be asked. */
  readonly dmOf: (userId: string) => Promise<Place>;
  /** Whether the bot answers a person [G1]. Never rejects. */
  readonly hasAccess: (userId: string) => Promise<boolean>;
  readonly logger: Logger;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** `undefined` for who is not signed in. */
    session: Session | undefined;
  }
}

/** Bytes of a form: its largest field takes 64 Ki characters, each of at most nine bytes there. */
const bodyLimit = 768 * 1024;
const triesAMinute = 30;
/** Until a request is there, for the slowest upload; milliseconds. */
const requestMs = 5 * 60_000;
/** As large as Discord takes a file from anybody; bytes. */
const uploadLimits = { fileSize: 10 * 1024 * 1024, files: 1, fields: 10, fieldSize: bodyLimit };

/** Where other assistants ask [EW3]. */
const mcpPath = '/mcp';

/** Answers to commands, which hold what people wrote and keep [L3]. */
const keptAnswers = 100;

export type Page = Awaited<ReturnType<typeof startPage>>;

/** Everybody's own page [Y1] at a port of its own. Rejects as `listen` does where the port cannot be had. */
export async function startPage(options: PageOptions) {
  const { logger, signIn } = options;
  let url = options.url ?? '';
  const live = createLivePages();
  const answersTo = lruCache<string, Answered>(keptAnswers, { maxAge: sessionMs });
  const server = fastify({
    bodyLimit,
    requestTimeout: requestMs,
    trustProxy: ['loopback', 'uniquelocal'],
    forceCloseConnections: true,
  });
  await server.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: policy },
    // With `no-referrer` a browser would not say where a form comes from.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: false,
  });
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );
  await server.register(rateLimit, { global: false });
  server.decorateRequest('session', undefined);

  server.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    request.session = await signIn.session(sessionIdIn(request));
    if (request.method === 'POST' && !comesFromHere(request)) return send(reply.code(403), ...foreignForm);
    return undefined;
  });
  server.setNotFoundHandler((_, reply) => send(reply.code(404), ...notFound));
  server.setErrorHandler(fail);
  server.get('/page.css', (_, reply) => reply.type('text/css; charset=utf-8').send(style));
  server.get('/page.js', (_, reply) => reply.type('text/javascript; charset=utf-8').send(script));

  const tries = { config: { rateLimit: { max: triesAMinute, timeWindow: '1 minute' } } };
  server.get<{ Params: { token: string } }>(
    '/sign-in/:token',
    tries,
    async ({ params: { token } }, reply) => {
      const name = await signIn.nameOf(token);
      if (name === undefined) return send(reply.code(403), ...oldLink);
      return send(reply, 'Sign in', signInForm(name, token));
    },
  );
  server.post<{ Params: { token: string } }>('/sign-in/:token', tries, async (request, reply) => {
    const opened = await signIn.open(request.params.token, options.dmOf);
    if (opened === undefined) return send(reply.code(403), ...oldLink);
    await signIn.end(sessionIdIn(request));
    reply.header('set-cookie', sessionCookie(opened.id, longestSessionMs / 1000));
    return reply.redirect(opened.path, 303);
  });
  server.post('/sign-out', async (request, reply) => {
    await signIn.end(sessionIdIn(request));
    answersTo.delete(request.session?.hash ?? '');
    // Its other pages go too.
    live.tell(request.session?.person.id ?? '');
    reply.header('set-cookie', sessionCookie('', 0));
    return send(reply, ...signedOff);
  });

  let give: GiveCommand | undefined;
  /** For its person alone, as long as they have access. */
  await server.register(async (own) => {
    await own.register(multipart, { attachFieldsToBody: 'keyValues', limits: uploadLimits });
    // Before anything of theirs is read, but for a form, whose text is to stand in the answer.
    own.addHook('onRequest', async (request, reply) => (isForm(request) ? undefined : admit(request, reply)));
    own.addHook('preHandler', async (request, reply) => {
      if (isForm(request) && (await admit(request, reply)) !== undefined) return reply;
      const { method, body, session } = request;
      const isTheirs = method !== 'POST' || fieldsIn(body)['_csrf'] === session?.csrf;
      return isTheirs ? undefined : refuse(request, reply.code(403), foreignForm);
    });
    give = addOwnRoutes(own, {
      ...options,
      elsewhere: options.hasMcp ? { signIn, url: () => `${url}${mcpPath}` } : undefined,
      live,
      answersTo,
      isOpen: async (request) => (await signIn.session(sessionIdIn(request))) !== undefined,
    });
  });

  if (options.hasMcp && give !== undefined) {
    const { addMcp } = await import('./mcp.ts');
    const mcp = { ...options, path: mcpPath, give };
    await server.register(async (own) => addMcp(own, mcp));
  }

  /** Goes on with who is signed in and has access; their hour counts from now, unless their page only looks again by itself. */
  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { session } = request;
    if (session === undefined) return refuse(request, reply.code(401), signedOut);
    if (!(await options.hasAccess(session.person.id))) return refuse(request, reply.code(403), noAccess);
    const { headers } = request;
    if (headers['x-live'] !== undefined || headers.accept === 'text/event-stream') return undefined;
    request.session = await signIn.extend(session).catch((error: unknown) => {
      logger.warn('a session on the page was not extended', { userId: session.person.id, error });
      return session;
    });
    return undefined;
  }

  /** A form is taken from this very page alone; every browser says so by one of these [Y5]. Programs say neither [EW3]. */
  function comesFromHere({ headers, routeOptions }: FastifyRequest): boolean {
    if (routeOptions.url === mcpPath && headers.origin === undefined) return true;
    return headers['sec-fetch-site'] === 'same-origin' || headers.origin === url;
  }

  /** Nobody but this very host can set a cookie of that prefix. Other programs of this machine share the name of its host. */
  function cookieName(): string {
    return url.startsWith('https:') ? '__Host-session' : `discoclaw-${new URL(url).port}`;
  }

  /** For so many seconds; `id` has no character that a cookie may not have. */
  function sessionCookie(id: string, seconds: number): string {
    const secure = url.startsWith('https:') ? '; Secure' : '';
    return `${cookieName()}=${id}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure}`;
  }

  function sessionIdIn({ headers }: FastifyRequest): string {
    const name = `${cookieName()}=`;
    const cookies = headers.cookie?.split(/; */u) ?? [];
    return cookies.find((each) => each.startsWith(name))?.slice(name.length) ?? '';
  }

  function fail(error: unknown, request: FastifyRequest, reply: FastifyReply) {
    const status = Number(Object(error).statusCode ?? 500);
    // A program shows its person what it is told.
    if (status < 500 && request.routeOptions.url === mcpPath)
      return reply.code(status).send({ error: STATUS_CODES[status] });
    if (status === 429) return send(reply.code(429), ...tooMany);
    if (status < 500) return send(reply.code(status), ...notUnderstood);
    const reference = referenceTo(snowflakeAt(options.clock()));
    logger.error('a page could not be made', { reference, userId: request.session?.person.id, error });
    const line = withReference('Something went wrong on my side. Please try again.', reference);
    return refuse(request, reply.code(500), fixedPage('Something went wrong', html`${line}`));
  }

  await server.listen({ port: options.port, host: options.host });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  url ||= `http://${options.host}:${port}`;
  logger.info('the page can be reached', { url });

  return {
    url,
    memoryChanged: (userId: string): void => live.tell(userId),
    close: (): Promise<void> => server.close(),
  };
}

function isForm({ headers }: FastifyRequest): boolean {
  return headers['content-type']?.startsWith(plainForm) === true;
}

/** What was written stands in the answer, to be sent again by who is signed in [Y1]. */
function refuse({ body, session }: FastifyRequest, reply: FastifyReply, [title, content]: FixedPage) {
  return send(reply, title, html`${content}${keptText(body, session?.csrf)}`);
}

const own = ["'self'"];
const none = ["'none'"];
const policy = {
  defaultSrc: none,
  styleSrc: own,
  scriptSrc: own,
  imgSrc: own,
  connectSrc: own,
  formAction: own,
  baseUri: none,
  frameAncestors: none,
};

/** The title and content of a page that is the same for everybody. */
type FixedPage = readonly [title: string, content: Html];

function fixedPage(title: string, text: Html): FixedPage {
  return [
    title,
    html`<h1>${title}</h1>
      <p>${text}</p>`,
  ];
}

const newLink = html`Write <code>/memory page</code> to me on Discord for a new link.`;
const home = html`<a href="/">Your memory</a>`;
const signedOut = fixedPage('You are not signed in', newLink);
const signedOff = fixedPage('Signed out', newLink);
const oldLink = fixedPage(
  'This link does not work',
  html`It was used, is older than ten minutes, or a newer one took its place. ${newLink}`,
);
const noAccess = fixedPage('No access', html`I only answer people whom my owner has given access.`);
const notFound = fixedPage('Not found', html`There is nothing here, or no longer. ${home}`);
const notUnderstood = fixedPage('Not understood', html`That was too large, or no form of mine. ${home}`);
const tooMany = fixedPage('Please wait', html`There were too many tries. Open the link again in a minute.`);
const foreignForm = fixedPage(
  'Nothing was done',
  html`The form was not from a page that still holds. ${home}`,
);

function signInForm(name: string, token: string): Html {
  return html`<h1>Hello, ${name}</h1>
    <p>Here you see what I remember about you, until an hour after your last use. The link works once.</p>
    <form method="post" action="/sign-in/${encodeURIComponent(token)}">
      <button>Open my memory</button>
    </form>`;
}
