import { Snowflake } from '@sapphire/snowflake';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { userPayload } from '../payloads/user-payload.ts';
import { reactionKey } from '../world/emojis.ts';
import type { Message } from '../world/entities.ts';
import { clearReactions, maxReactionKinds, setReaction } from '../world/reactions.ts';
import { userOf } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { messageIn, requirePermission, viewableChannel } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(25),
  after: z.string().default('0'),
});

interface OnMessage {
  readonly Params: { readonly channel: string; readonly message: string };
}
interface OnEmoji {
  readonly Params: OnMessage['Params'] & { readonly emoji: string };
}
interface OnReaction {
  readonly Params: OnEmoji['Params'] & { readonly user: string };
}

/** Reactions to a message: the bot's own, those of others, and who reacted. */
export function reactionRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;
  const onMessage = '/channels/:channel/messages/:message/reactions';

  app.put<OnReaction>(`${onMessage}/:emoji/:user`, (request, reply) => {
    const { channel, message } = target(request.params);
    if (request.params.user !== '@me') throw apiErrors.notFound();
    requirePermission(context, channel, 'ReadMessageHistory');
    if (channel.kind === 'thread' && channel.archived) throw apiErrors.threadArchived();
    const emoji = emojiOf(context, request.params.emoji);
    // As in Discord: joining in what others reacted with needs no right to begin a reaction.
    if (!message.reactions.has(emoji)) {
      requirePermission(context, channel, 'AddReactions');
      if (message.reactions.size >= maxReactionKinds) throw apiErrors.tooManyReactions();
    }
    setReaction(world, message, { userId: world.botId, emoji, present: true });
    return reply.code(204).send();
  });

  app.delete<OnReaction>(`${onMessage}/:emoji/:user`, (request, reply) => {
    const { channel, message } = target(request.params);
    const own = request.params.user === '@me' || request.params.user === world.botId;
    if (!own && channel.kind === 'dm') throw apiErrors.notInDm();
    if (!own) requirePermission(context, channel, 'ManageMessages');
    const userId = own ? world.botId : request.params.user;
    setReaction(world, message, { userId, emoji: emojiOf(context, request.params.emoji), present: false });
    return reply.code(204).send();
  });

  app.delete<OnEmoji>(`${onMessage}/:emoji`, (request, reply) => {
    clearReactions(world, managed(request.params), emojiOf(context, request.params.emoji));
    return reply.code(204).send();
  });

  app.delete<OnMessage>(onMessage, (request, reply) => {
    clearReactions(world, managed(request.params));
    return reply.code(204).send();
  });

  app.get<OnEmoji>(`${onMessage}/:emoji`, (request) => {
    const { channel, message } = target(request.params);
    requirePermission(context, channel, 'ReadMessageHistory');
    const { limit, after } = parseForm(pageSchema, request.query);
    return [...(message.reactions.get(emojiOf(context, request.params.emoji)) ?? [])]
      .filter((id) => Snowflake.compare(id, after) > 0)
      .toSorted((a, b) => Snowflake.compare(a, b))
      .slice(0, limit)
      .map((id) => userPayload(userOf(world, id)));
  });

  function target(params: OnMessage['Params']): {
    readonly channel: ReturnType<typeof viewableChannel>;
    readonly message: Message;
  } {
    const channel = viewableChannel(context, params.channel);
    return { channel, message: messageIn(context, channel, params.message) };
  }

  /** A message whose reactions the bot may clear. */
  function managed(params: OnMessage['Params']): Message {
    const { channel, message } = target(params);
    if (channel.kind === 'dm') throw apiErrors.notInDm();
    requirePermission(context, channel, 'ManageMessages');
    return message;
  }
}

function emojiOf({ world }: RestContext, reference: string): string {
  const emoji = reactionKey(world, reference);
  if (emoji === undefined) throw apiErrors.unknownEmoji();
  return emoji;
}
