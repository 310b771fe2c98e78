import cookie from '@fastify/cookie';
import csrf from '@fastify/csrf-protection';
import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import rateLimit from '@fastify/rate-limit';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';

import { referenceTo, withReference } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { Place } from '../core/place.ts';
import { snowflakeAt } from '../core/snowflake.ts';
import { fieldsIn } from './forms.ts';
import { html, send, type Html } from './html.ts';
import { createLivePages } from './live.ts';
import { addOwnRoutes, type OwnRoutesOptions } from './own-routes.ts';
import { script } from './script.ts';
import { createSignIn, sessionMs, type PagePath, type PagePerson, type Session } from './sign-in.ts';
import { style } from './style.ts';

export interface PageOptions extends Pick<
  OwnRoutesOptions,
  'command' | 'parseCommand' | 'clock' | 'randomToken'
> {
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

/** Bytes of a form: a file of the notebook may have 64 KiB, and three times that in a form. */
const bodyLimit = 256 * 1024;
const triesAMinute = 30;
/** As large as Discord takes a file from anybody; bytes. */
const uploadLimits = { fileSize: 10 * 1024 * 1024, files: 1, fields: 10, fieldSize: bodyLimit };

export type Page = Awaited<ReturnType<typeof startPage>>;

/** Everybody's own page [Y1] at a port of its own. Rejects as `listen` does where the port cannot be had. */
export async function startPage(options: PageOptions) {
  const { logger } = options;
  let url = options.url ?? '';
  const signIn = createSignIn(options);
  const live = createLivePages();
  const server = fastify({ bodyLimit, trustProxy: ['loopback', 'uniquelocal'], forceCloseConnections: true });
  await server.register(helmet, {
    contentSecurityPolicy: { useDefaults: false, directives: policy },
    // With `no-referrer` a browser would not say where a form comes from.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: false,
  });
  await server.register(cookie);
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    async (_: FastifyRequest, body: string) => Object.fromEntries(new URLSearchParams(body)),
  );
  await server.register(rateLimit, { global: false });
  await server.register(csrf, {
    sessionPlugin: '@fastify/session',
    getToken: ({ body }) => fieldsIn(body)['_csrf'] ?? '',
  });
  server.decorateRequest('session', undefined);

  server.addHook('onRequest', async (request, reply) => {
    reply.header('cache-control', 'no-store');
    request.session = signIn.session(sessionIdIn(request));
    if (request.method === 'POST' && !comesFromHere(request)) return send(reply.code(403), ...foreignForm);
    return undefined;
  });
  server.setNotFoundHandler((_, reply) => send(reply.code(404), ...notFound));
  server.setErrorHandler(fail);
  server.get('/page.css', (_, reply) => reply.type('text/css; charset=utf-8').send(style));
  server.get('/page.js', (_, reply) => reply.type('text/javascript; charset=utf-8').send(script));

  const tries = { config: { rateLimit: { max: triesAMinute, timeWindow: '1 minute' } } };
  server.get<{ Params: { token: string } }>('/sign-in/:token', tries, ({ params: { token } }, reply) => {
    const person = signIn.personOf(token);
    if (person === undefined) return send(reply.code(403), ...oldLink);
    return send(reply, 'Sign in', signInForm(person, token));
  });
  server.post<{ Params: { token: string } }>('/sign-in/:token', tries, async (request, reply) => {
    const opened = await signIn.open(request.params.token, options.dmOf);
    if (opened === undefined) return send(reply.code(403), ...oldLink);
    signIn.end(sessionIdIn(request));
    reply.setCookie(cookieName(), opened.id, {
      ...cookieScope(),
      sameSite: 'strict',
      maxAge: sessionMs / 1000,
    });
    return reply.redirect(opened.path, 303);
  });
  server.post('/sign-out', async (request, reply) => {
    signIn.end(sessionIdIn(request));
    reply.clearCookie(cookieName(), cookieScope());
    return send(reply, ...signedOff);
  });

  /** For its person alone, as long as they have access. */
  await server.register(async (own) => {
    await own.register(multipart, { attachFieldsToBody: 'keyValues', limits: uploadLimits });
    // Before anything of theirs is read.
    own.addHook('onRequest', async ({ session }, reply) => {
      if (session === undefined) return send(reply.code(401), ...signedOut);
      if (!(await options.hasAccess(session.person.id))) return send(reply.code(403), ...noAccess);
      return undefined;
    });
    own.addHook('preHandler', (request, reply, done) => {
      if (request.method === 'POST') own.csrfProtection(request, reply, done);
      else done();
    });
    addOwnRoutes(own, { ...options, live });
  });

  /** A form is taken from this very page alone; every browser says so by one of these [Y5]. */
  function comesFromHere({ headers }: FastifyRequest): boolean {
    return headers['sec-fetch-site'] === 'same-origin' || headers.origin === url;
  }

  /** Nobody but this very host can set a cookie of that prefix. */
  function cookieName(): string {
    return url.startsWith('https:') ? '__Host-session' : 'session';
  }

  function cookieScope() {
    return { path: '/', httpOnly: true, secure: url.startsWith('https:') };
  }

  function sessionIdIn({ cookies }: FastifyRequest): string {
    return cookies[cookieName()] ?? '';
  }

  function fail(error: unknown, { session }: FastifyRequest, reply: FastifyReply) {
    const status = Number(Object(error).statusCode ?? 500);
    if (status === 403) return send(reply.code(403), ...foreignForm);
    if (status === 429) return send(reply.code(429), ...tooMany);
    if (status < 500) return send(reply.code(status), ...notUnderstood);
    const reference = referenceTo(snowflakeAt(options.clock()));
    logger.error('a page could not be made', { reference, userId: session?.person.id, error });
    const line = withReference('Something went wrong on my side. Please try again.', reference);
    return send(reply.code(500), ...fixedPage('Something went wrong', html`${line}`));
  }

  await server.listen({ port: options.port, host: options.host });
  const address = server.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  url ||= `http://${options.host}:${port}`;
  logger.info('the page can be reached', { url });

  return {
    /** Where a person signs in, once and within ten minutes; an earlier link of theirs works no longer. */
    linkFor: (person: PagePerson, path?: PagePath): string => `${url}/sign-in/${signIn.link(person, path)}`,
    memoryChanged: (userId: string): void => live.tell(userId),
    /** Nothing of the person is left here either. */
    erased: (userId: string): void => signIn.endAllOf(userId),
    close: (): Promise<void> => server.close(),
  };
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

function signInForm({ name }: PagePerson, token: string): Html {
  return html`<h1>Hello, ${name}</h1>
    <p>Here you see what I remember about you, for one hour in this browser. The link works once.</p>
    <form method="post" action="/sign-in/${encodeURIComponent(token)}">
      <button>Open my memory</button>
    </form>`;
}
