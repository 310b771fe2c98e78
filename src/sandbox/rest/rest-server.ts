import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

import { findAttachment } from '../world/attachments.ts';
import { accountRoutes, commandRoutes } from './account-routes.ts';
import { ApiError, apiErrors } from './api-error.ts';
import { channelRoutes, markRoutes, messageRoutes, threadRoutes } from './channel-routes.ts';
import { interactionRoutes, webhookRoutes } from './interaction-routes.ts';
import { readUpload, Upload } from './bot-messages.ts';
import type { ApiRequest, On, RestContext } from './rest-context.ts';

/** Where the API begins; the client adds the version. */
export const apiPath = '/api';
const versionedPath = `${apiPath}/v10`;

/** The REST side: the API under `/api/v10`, and attachments. Not listening yet. */
export function createRestServer(context: RestContext): FastifyInstance {
  const app = fastify({ bodyLimit: 25 * 1024 * 1024, forceCloseConnections: true });
  if (context.interception !== undefined) intercept(app, context.interception);
  fileRoutes(app, context);
  app.register(
    (api, _options, done) => {
      registerApi(api, context);
      done();
    },
    { prefix: versionedPath },
  );
  return app;
}

function registerApi(api: FastifyInstance, context: RestContext): void {
  api.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer) => readUpload(body, request.headers['content-type'] ?? ''),
  );
  api.setErrorHandler((error, _request, reply) => {
    if (error instanceof ApiError) return reply.code(error.status).send(error.body);
    const { statusCode = 500 } = Object(error);
    return reply.code(Number(statusCode)).send({ message: String(error), code: 0 });
  });
  api.addHook('preHandler', async ({ url, headers }) => {
    const tokenInPath = /^\/(?:interactions|webhooks)\//.test(url.slice(versionedPath.length));
    if (!tokenInPath && headers.authorization !== `Bot ${context.token}`) throw apiErrors.unauthorized();
  });
  api.addHook('preSerialization', (_request, _reply, payload, done) => {
    done(null, context.sends(structuredClone(payload)));
  });

  accountRoutes(api, context);
  channelRoutes(api, context);
  threadRoutes(api, context);
  messageRoutes(api, context);
  markRoutes(api, context);
  commandRoutes(api, context);
  interactionRoutes(api, context);
  webhookRoutes(api, context);
  // A route that the sandbox does not have is answered like one that Discord does not have.
  api.all('/*', () => {
    throw apiErrors.notFound();
  });
}

/** Serves files as Discord's CDN does: without a token, and only while their message is there. */
function fileRoutes(app: FastifyInstance, { world }: RestContext): void {
  app.get<On<'channel' | 'file' | 'name'>>('/attachments/:channel/:file/:name', (request, reply) => {
    const { channel, file, name } = request.params;
    const found = findAttachment(world, channel, file);
    if (found?.name !== name)
      return reply.code(404).type('text/plain').send('This content is no longer available.');
    return reply.type(found.contentType ?? 'application/octet-stream').send(found.bytes);
  });
}

/** Has a test meet every request before it is carried out, and hear of its answer. */
function intercept(app: FastifyInstance, { meet, answered }: NonNullable<RestContext['interception']>): void {
  const breaking = new WeakSet<FastifyRequest>();
  const met = new WeakMap<FastifyRequest, ApiRequest>();
  app.addHook('preHandler', async (request, reply) => {
    const call = apiRequest(request);
    met.set(request, call);
    const { headers = {}, answer, breaks } = (await meet(call)) ?? {};
    reply.headers(headers);
    if (breaks === 'after') breaking.add(request);
    if (breaks === 'before') breakConnection(request, reply);
    else if (answer !== undefined) await reply.code(answer.status).send(answer.body);
  });
  app.addHook('onSend', (request, reply, _payload, done) => {
    const call = met.get(request);
    if (call !== undefined) answered?.(call, reply.statusCode);
    if (breaking.has(request)) breakConnection(request, reply);
    else done();
  });
}

function breakConnection(request: FastifyRequest, reply: FastifyReply): void {
  reply.hijack();
  request.raw.socket.resetAndDestroy();
}

function apiRequest({ method, url, body, headers }: FastifyRequest): ApiRequest {
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const isApi = pathname.startsWith(versionedPath);
  return {
    method,
    path: decodeURIComponent(isApi ? pathname.slice(versionedPath.length) : pathname),
    query: Object.fromEntries(searchParams),
    body:
      body instanceof Upload ? { ...Object(body.payload), files: body.files.map(({ name }) => name) } : body,
    headers,
  };
}
