import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { PermissionFlagsBits } from 'discord-api-types/v10';
import { z } from 'zod';

import { messagePayload } from '../payloads/message-payload.ts';
import { maxPins, pinMessage, pinnedMessages, unpinMessage } from '../world/pins.ts';
import { may } from '../world/permissions.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { messageIn, requirePermission, restView, viewableChannel } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(50).default(50),
  before: z.iso.datetime({ offset: true }).optional(),
});

interface InChannel {
  readonly Params: { readonly channel: string };
}
interface OnMessage {
  readonly Params: { readonly channel: string; readonly message: string };
}

/** Pinned messages, under today's path and under the one that Discord still answers. */
export function pinRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<InChannel>('/channels/:channel/messages/pins', (request) => {
    const { limit, before } = parseForm(pageSchema, request.query);
    const until = before === undefined ? Infinity : Date.parse(before);
    const found = listed(request.params.channel).filter(({ pinnedAt }) => Date.parse(pinnedAt) < until);
    return {
      items: found.slice(0, limit).map((message) => ({
        pinned_at: message.pinnedAt,
        message: messagePayload(world, message, restView(context)),
      })),
      has_more: found.length > limit,
    };
  });

  app.get<InChannel>('/channels/:channel/pins', (request) =>
    listed(request.params.channel)
      .slice(0, 50)
      .map((message) => messagePayload(world, message, restView(context))),
  );

  for (const path of ['/channels/:channel/messages/pins/:message', '/channels/:channel/pins/:message']) {
    app.put<OnMessage>(path, pin);
    app.delete<OnMessage>(path, unpin);
  }

  function pin(request: FastifyRequest<OnMessage>, reply: FastifyReply): FastifyReply {
    const { channel, message } = pinnable(request.params);
    if (message.pinnedAt === null && pinnedMessages(world, channel.id).length >= maxPins) {
      throw apiErrors.tooManyPins();
    }
    pinMessage(world, channel, message, world.botId);
    return reply.code(204).send();
  }

  function unpin(request: FastifyRequest<OnMessage>, reply: FastifyReply): FastifyReply {
    const { channel, message } = pinnable(request.params);
    unpinMessage(world, channel, message);
    return reply.code(204).send();
  }

  function pinnable(params: OnMessage['Params']): {
    readonly channel: ReturnType<typeof viewableChannel>;
    readonly message: ReturnType<typeof messageIn>;
  } {
    const channel = viewableChannel(context, params.channel);
    const message = messageIn(context, channel, params.message);
    requirePermission(context, channel, 'PinMessages');
    return { channel, message };
  }

  /** As for history, Discord shows nothing without the right to read it. */
  function listed(channelId: string): ReturnType<typeof pinnedMessages> {
    const channel = viewableChannel(context, channelId);
    const readable = may(world, channel, world.botId, PermissionFlagsBits.ReadMessageHistory);
    return readable ? pinnedMessages(world, channel.id) : [];
  }
}
