import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { channelPayload } from '../payloads/channel-payload.ts';
import { openDm } from '../world/channels.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { requirePermission, viewableChannel } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const dmSchema = z.object({ recipient_id: z.string() });

interface InChannel {
  readonly Params: { readonly channel: string };
}
/** Channels, DMs, typing. */
export function channelRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<InChannel>('/channels/:channel', (request) =>
    channelPayload(world, viewableChannel(context, request.params.channel), world.botId),
  );

  app.post('/users/@me/channels', (request) => {
    const { recipient_id: personId } = parseForm(dmSchema, request.body);
    const person = world.users.get(personId);
    if (person === undefined) throw apiErrors.unknownUser();
    if (person.bot) throw apiErrors.cannotDm();
    return channelPayload(world, openDm(world, personId), world.botId);
  });

  app.post<InChannel>('/channels/:channel/typing', (request, reply) => {
    const channel = viewableChannel(context, request.params.channel);
    if (channel.kind !== 'dm') {
      requirePermission(
        context,
        channel,
        channel.kind === 'thread' ? 'SendMessagesInThreads' : 'SendMessages',
      );
    }
    world.emit({ type: 'typing-started', channel, userId: world.botId, at: world.now() });
    return reply.code(204).send();
  });
}
