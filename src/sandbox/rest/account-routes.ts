import type { FastifyInstance } from 'fastify';

import { applicationPayload } from '../payloads/application-payload.ts';
import { userPayload } from '../payloads/user-payload.ts';
import { userOf } from '../world/world.ts';
import { apiErrors } from './api-error.ts';
import type { RestContext } from './rest-context.ts';

interface OnUser {
  readonly Params: { readonly user: string };
}

/** Where the gateway is, who the bot is, whose it is, and who others are. */
export function accountRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get('/gateway', () => ({ url: context.urls().gateway }));

  app.get('/gateway/bot', () => ({
    url: context.urls().gateway,
    shards: 1,
    session_start_limit: { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 },
  }));

  app.get('/users/@me', () => userPayload(userOf(world, world.botId)));

  app.get<OnUser>('/users/:user', (request) => {
    const user = world.users.get(request.params.user);
    if (user === undefined) throw apiErrors.unknownUser();
    return userPayload(user);
  });

  app.get('/oauth2/applications/@me', () => applicationPayload(world));
  app.get('/applications/@me', () => applicationPayload(world));
}
