import type { FastifyInstance } from 'fastify';

import { maxReactionKinds, reactionKey, setReaction } from '../world/reactions.ts';
import { apiErrors } from './api-error.ts';
import { messageAt, requirePermission, type On, type RestContext } from './rest-context.ts';

/** The bot's own reactions to a message. */
export function reactionRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;
  const own = '/channels/:channel/messages/:message/reactions/:emoji/@me';

  app.put<On<'channel' | 'message' | 'emoji'>>(own, (request, reply) => {
    const { channel, message } = messageAt(context, request.params);
    requirePermission(context, channel, 'ReadMessageHistory');
    if (channel.kind === 'thread' && channel.archived) throw apiErrors.threadArchived();
    const emoji = emojiOf(request.params.emoji);
    // As in Discord: joining in what others reacted with needs no right to begin a reaction.
    if (!message.reactions.has(emoji)) {
      requirePermission(context, channel, 'AddReactions');
      if (message.reactions.size >= maxReactionKinds) throw apiErrors.tooManyReactions();
    }
    setReaction(world, message, { userId: world.botId, emoji, present: true });
    return reply.code(204).send();
  });

  app.delete<On<'channel' | 'message' | 'emoji'>>(own, (request, reply) => {
    const { message } = messageAt(context, request.params);
    const emoji = emojiOf(request.params.emoji);
    setReaction(world, message, { userId: world.botId, emoji, present: false });
    return reply.code(204).send();
  });

  function emojiOf(reference: string): string {
    const emoji = reactionKey(world, reference);
    if (emoji === undefined) throw apiErrors.unknownEmoji();
    return emoji;
  }
}
