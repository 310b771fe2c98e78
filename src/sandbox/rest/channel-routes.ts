import { PermissionFlagsBits } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { channelPayload } from '../payloads/channel-payload.ts';
import {
  deleteMessages,
  editMessage,
  maxPins,
  messagePage,
  messagesOf,
  pinnedMessages,
  setPinned,
} from '../world/messages.ts';
import { isLockedFor, may } from '../world/permissions.ts';
import { maxReactionKinds, reactionKey, setReaction } from '../world/reactions.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { parseMessageForm, requireContent } from './message-form.ts';
import { changeBy, postMessage, repliedUser } from './post-message.ts';
import {
  messageAnswer,
  messageAt,
  messageIn,
  requireOpen,
  requirePermission,
  viewableChannel,
  type On,
  type RestContext,
} from './rest-context.ts';

/** Channels themselves: what they are, and typing in them. */
export function channelRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<On<'channel'>>('/channels/:channel', (request) =>
    channelPayload(world, viewableChannel(context, request.params.channel), world.botId),
  );

  app.post<On<'channel'>>('/channels/:channel/typing', (request, reply) => {
    const channel = viewableChannel(context, request.params.channel);
    if (channel.kind !== 'dm') {
      requirePermission(
        context,
        channel,
        channel.kind === 'thread' ? 'SendMessagesInThreads' : 'SendMessages',
      );
    }
    world.emit({ type: 'typing-started', channel, at: world.now() });
    return reply.code(204).send();
  });
}

const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  before: z.string().optional(),
  after: z.string().optional(),
  around: z.string().optional(),
});
/** Messages of a channel: history, post, edit, delete. */
export function messageRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<On<'channel'>>('/channels/:channel/messages', (request) => {
    const channel = viewableChannel(context, request.params.channel);
    const page = parseForm(pageSchema, request.query);
    // Without the right to read history Discord answers with an empty page instead of an error.
    if (!may(world, channel, world.botId, PermissionFlagsBits.ReadMessageHistory)) return [];
    return messagePage(messagesOf(world, channel.id), page).map((message) => messageAnswer(context, message));
  });

  app.get<On<'channel' | 'message'>>('/channels/:channel/messages/:message', (request) => {
    const channel = viewableChannel(context, request.params.channel);
    requirePermission(context, channel, 'ReadMessageHistory');
    return messageAnswer(context, messageIn(context, channel, request.params.message));
  });

  app.post<On<'channel'>>('/channels/:channel/messages', (request) => {
    const channel = viewableChannel(context, request.params.channel);
    return messageAnswer(context, postMessage(world, channel, parseMessageForm(request.body)));
  });

  app.patch<On<'channel' | 'message'>>('/channels/:channel/messages/:message', (request) => {
    const { channel, message } = messageAt(context, request.params);
    const form = parseMessageForm(request.body);
    if (message.authorId !== world.botId) throw apiErrors.foreignMessage();
    if (message.poll !== undefined) throw apiErrors.pollIsFixed();
    requireOpen(context, channel);
    const change = changeBy(world, message, form, repliedUser(world, message.replyTo));
    if (form.content !== undefined && change.attachments.length === 0) requireContent(form);
    if (form.files.length > 0 && channel.kind !== 'dm') requirePermission(context, channel, 'AttachFiles');
    editMessage(world, message, { ...change, flags: form.flags ?? undefined });
    return messageAnswer(context, message);
  });

  app.delete<On<'channel' | 'message'>>('/channels/:channel/messages/:message', (request, reply) => {
    const { channel, message } = messageAt(context, request.params);
    if (message.authorId !== world.botId) {
      if (channel.kind === 'dm') throw apiErrors.notInDm();
      requirePermission(context, channel, 'ManageMessages');
    }
    const isClosed = channel.kind === 'thread' && channel.archived;
    if (isClosed && isLockedFor(world, channel, world.botId)) throw apiErrors.threadArchived();
    deleteMessages(world, channel.id, [message], false);
    return reply.code(204).send();
  });
}

/** What the bot puts on messages and takes from them: pins and its own reactions. */
export function markRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.route<On<'channel' | 'message'>>({
    method: ['PUT', 'DELETE'],
    url: '/channels/:channel/messages/pins/:message',
    handler({ method, params }, reply) {
      const { channel, message } = messageAt(context, params);
      requirePermission(context, channel, 'PinMessages');
      const isNew = method === 'PUT' && message.pinnedAt === null;
      if (isNew && pinnedMessages(world, channel.id).length >= maxPins) throw apiErrors.tooManyPins();
      setPinned(world, message, world.botId, method === 'PUT');
      return reply.code(204).send();
    },
  });

  app.route<On<'channel' | 'message' | 'emoji'>>({
    method: ['PUT', 'DELETE'],
    url: '/channels/:channel/messages/:message/reactions/:emoji/@me',
    handler({ method, params }, reply) {
      const { channel, message } = messageAt(context, params);
      const present = method === 'PUT';
      if (present) requirePermission(context, channel, 'ReadMessageHistory');
      if (present && channel.kind === 'thread' && channel.archived) throw apiErrors.threadArchived();
      const emoji = reactionKey(world, params.emoji);
      if (emoji === undefined) throw apiErrors.unknownEmoji();
      // As in Discord: joining in what others reacted with needs no right to begin a reaction.
      if (present && !message.reactions.has(emoji)) {
        requirePermission(context, channel, 'AddReactions');
        if (message.reactions.size >= maxReactionKinds) throw apiErrors.tooManyReactions();
      }
      setReaction(world, message, { userId: world.botId, emoji, present });
      return reply.code(204).send();
    },
  });
}
