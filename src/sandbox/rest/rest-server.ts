import { setTimeout as sleep } from 'node:timers/promises';

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

import { accountRoutes, guildRoutes } from './account-and-guild-routes.ts';
import { ApiError, apiErrors } from './api-error.ts';
import { cdnRoutes } from './cdn-routes.ts';
import { channelRoutes, markRoutes, messageRoutes } from './channel-routes.ts';
import { commandRoutes } from './command-routes.ts';
import type { Fault } from './faults.ts';
import { interactionRoutes, webhookRoutes } from './interaction-routes.ts';
import { parseUpload, Upload } from './message-form.ts';
import { answerRateLimited } from './rate-limits.ts';
import type { RecordedRequest } from './request-log.ts';
import type { RestContext } from './rest-context.ts';
import { threadRoutes } from './thread-routes.ts';

/** Where the API begins; the client adds the version. */
export const apiPath = '/api';
const versionedPath = `${apiPath}/v10`;

/** So many of the newest requests are kept. */
const keptRequests = 20_000;

/** The REST side: the API under `/api/v10`, and attachments. Not listening yet. */
export function createRestServer(context: RestContext): FastifyInstance {
  const app = fastify({ bodyLimit: 25 * 1024 * 1024, forceCloseConnections: true });
  cdnRoutes(app, context);
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
  const recorded = new WeakMap<FastifyRequest, RecordedRequest>();
  const lost = new WeakSet<FastifyRequest>();

  api.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    (request: FastifyRequest, body: Buffer) => parseUpload(body, request.headers['content-type'] ?? ''),
  );
  api.setErrorHandler((error, _request, reply) => {
    const known = error instanceof ApiError ? error : toApiError(error);
    return reply.code(known.status).send(known.body);
  });
  api.addHook('preHandler', async (request, reply) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const path = decodeURIComponent(pathname.slice(versionedPath.length));
    const entry: RecordedRequest = {
      method: request.method,
      path,
      query: Object.fromEntries(searchParams),
      body: bodyOf(request),
      at: context.world.now().toISOString(),
      status: 0,
      isSharedLimit: false,
    };
    recorded.set(request, entry);
    context.requests.push(entry);
    if (context.requests.length > keptRequests) context.requests.shift();
    const tokenInPath = /^\/(?:interactions|webhooks)\//.test(path);
    if (!tokenInPath && request.headers.authorization !== `Bot ${context.token}`)
      throw apiErrors.unauthorized();
    const verdict = tokenInPath ? undefined : context.rateLimits.take(request.method, path);
    if (verdict !== undefined) reply.headers(verdict.headers);
    if (verdict?.isExceeded === true) {
      await answerRateLimited(reply, verdict);
      return;
    }
    const fault = context.faults.take(`${request.method} ${path}`);
    if (fault?.kind === 'lost') lost.add(request);
    else if (fault !== undefined) await applyFault(fault, request, reply);
  });
  api.addHook('preSerialization', (_request, _reply, payload, done) => {
    done(null, context.sends(structuredClone(payload)));
  });
  api.addHook('onSend', (request, reply, _payload, done) => {
    const entry = recorded.get(request);
    if (entry !== undefined) {
      entry.status = reply.statusCode;
      entry.isSharedLimit = reply.getHeader('x-ratelimit-scope') === 'shared';
    }
    if (lost.has(request)) {
      reply.hijack();
      request.raw.socket.resetAndDestroy();
      return;
    }
    done();
  });

  accountRoutes(api, context);
  guildRoutes(api, context);
  channelRoutes(api, context);
  threadRoutes(api, context);
  messageRoutes(api, context);
  markRoutes(api, context);
  commandRoutes(api, context);
  interactionRoutes(api, context);
  webhookRoutes(api, context);
  // A route that the sandbox does not have is answered, and recorded, like one that Discord does not have.
  api.all('/*', () => {
    throw apiErrors.notFound();
  });
}

async function applyFault(
  fault: Exclude<Fault, { kind: 'lost' }>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  switch (fault.kind) {
    case 'latency':
      await sleep(fault.milliseconds);
      return;
    case 'reset':
      reply.hijack();
      request.raw.socket.resetAndDestroy();
      return;
    case 'status':
      throw new ApiError(fault.status, fault.code, fault.message);
    case 'cloudflare':
      if (fault.retryAfterSeconds !== undefined) reply.header('retry-after', String(fault.retryAfterSeconds));
      await reply
        .code(fault.status)
        .type('text/html; charset=UTF-8')
        .send('<!DOCTYPE html><title>Access denied | discord.com used Cloudflare to restrict access</title>');
      return;
    case '429': {
      const global = fault.scope === 'global';
      const seconds = fault.retryAfterSeconds;
      await answerRateLimited(reply, {
        resetAfterSeconds: seconds,
        isGlobal: global,
        headers: {
          'x-ratelimit-scope': fault.scope,
          ...(global
            ? { 'x-ratelimit-global': 'true' }
            : {
                // A limit that is shared with others is hit while one's own is not used up.
                'x-ratelimit-limit': '5',
                'x-ratelimit-remaining': fault.scope === 'shared' ? '4' : '0',
                'x-ratelimit-reset-after': seconds.toFixed(3),
                'x-ratelimit-reset': (Date.now() / 1000 + seconds).toFixed(3),
                'x-ratelimit-bucket': 'sandbox',
              }),
        },
      });
    }
  }
}

function toApiError(error: unknown): ApiError {
  const { statusCode = 500 } = Object(error);
  const status = Number(statusCode);
  if (status === 400) return apiErrors.invalidJson();
  if (status === 413) return apiErrors.tooLarge();
  return new ApiError(status, 0, error instanceof Error ? `${status}: ${error.message}` : `${status}: Error`);
}

function bodyOf(request: FastifyRequest): unknown {
  const { body } = request;
  if (!(body instanceof Upload)) return body;
  const payload = typeof body.payload === 'object' && body.payload !== null ? body.payload : {};
  return { ...payload, files: body.files.map(({ name }) => name) };
}
