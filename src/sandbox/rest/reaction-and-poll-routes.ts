import { Snowflake } from '@sapphire/snowflake';
import type { APIUser } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { userPayload } from '../payloads/user-payload.ts';
import type { Message } from '../world/entities.ts';
import {
  clearReactions,
  closePoll,
  hasPoll,
  isOver,
  maxReactionKinds,
  reactionKey,
  setReaction,
} from '../world/reactions-and-polls.ts';
import { userOf, type World } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { messageAnswer, messageAt, requirePermission, type On, type RestContext } from './rest-context.ts';

/** A page of people, by id. */
const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(25),
  after: z.string().default('0'),
});

/** Reactions to a message: the bot's own, those of others, and who reacted. */
export function reactionRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;
  const onMessage = '/channels/:channel/messages/:message/reactions';

  app.put<On<'channel' | 'message' | 'emoji' | 'user'>>(`${onMessage}/:emoji/:user`, (request, reply) => {
    const { channel, message } = messageAt(context, request.params);
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

  app.delete<On<'channel' | 'message' | 'emoji' | 'user'>>(`${onMessage}/:emoji/:user`, (request, reply) => {
    const { channel, message } = messageAt(context, request.params);
    const own = request.params.user === '@me' || request.params.user === world.botId;
    if (!own && channel.kind === 'dm') throw apiErrors.notInDm();
    if (!own) requirePermission(context, channel, 'ManageMessages');
    const userId = own ? world.botId : request.params.user;
    setReaction(world, message, { userId, emoji: emojiOf(context, request.params.emoji), present: false });
    return reply.code(204).send();
  });

  app.delete<On<'channel' | 'message' | 'emoji'>>(`${onMessage}/:emoji`, (request, reply) => {
    clearReactions(world, managed(request.params), emojiOf(context, request.params.emoji));
    return reply.code(204).send();
  });

  app.delete<On<'channel' | 'message'>>(onMessage, (request, reply) => {
    clearReactions(world, managed(request.params));
    return reply.code(204).send();
  });

  app.get<On<'channel' | 'message' | 'emoji'>>(`${onMessage}/:emoji`, (request) => {
    const { channel, message } = messageAt(context, request.params);
    requirePermission(context, channel, 'ReadMessageHistory');
    const users = message.reactions.get(emojiOf(context, request.params.emoji));
    return userPage(world, users, request.query);
  });

  /** A message whose reactions the bot may clear. */
  function managed(params: On<'channel' | 'message'>['Params']): Message {
    const { channel, message } = messageAt(context, params);
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

/** Who voted for what, and the end of the bot's own polls. */
export function pollRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;
  const onPoll = '/channels/:channel/polls/:message';

  app.get<On<'channel' | 'message' | 'answer'>>(`${onPoll}/answers/:answer`, (request) => {
    const { message } = messageAt(context, request.params);
    const voters = hasPoll(message) ? message.poll.votes.get(Number(request.params.answer)) : undefined;
    return { users: userPage(world, voters, request.query) };
  });

  app.post<On<'channel' | 'message'>>(`${onPoll}/expire`, (request) => {
    const { message } = messageAt(context, request.params);
    if (!hasPoll(message)) throw apiErrors.notAPoll();
    if (message.authorId !== world.botId) throw apiErrors.foreignMessage();
    if (isOver(message.poll, world.now())) throw apiErrors.pollOver();
    closePoll(world, message);
    return messageAnswer(context, message);
  });
}

/** Some of these users, in order of their ids, as the query asks. @throws {ApiError} 50035 */
function userPage(world: World, ids: Iterable<string> | undefined, query: unknown): readonly APIUser[] {
  const { limit, after } = parseForm(pageSchema, query);
  return [...(ids ?? [])]
    .filter((id) => Snowflake.compare(id, after) > 0)
    .toSorted((a, b) => Snowflake.compare(a, b))
    .slice(0, limit)
    .map((id) => userPayload(userOf(world, id)));
}
