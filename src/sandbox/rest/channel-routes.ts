import {
  ChannelType,
  PermissionFlagsBits,
  type RESTPostAPIChannelThreadsJSONBody,
} from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';

import { channelPayload, threadMemberPayload, threadPayload } from '../payloads/guild-payload.ts';
import { joinThread, setArchived } from '../world/guilds.ts';
import { createThread } from '../world/threads.ts';
import type { TextChannel, ThreadChannel } from '../world/entities.ts';
import {
  deleteMessages,
  editMessage,
  messagePage,
  messagesOf,
  reactionKey,
  setPinned,
  setReaction,
} from '../world/messages.ts';
import { isLockedFor, may } from '../world/permissions.ts';
import { memberOf } from '../world/world.ts';
import { apiErrors } from './api-error.ts';
import { changeBy, postMessage, readMessageForm, repliedUser, requireContent } from './bot-messages.ts';
import {
  bodyAs,
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

/** Messages of a channel: history, post, edit, delete. */
export function messageRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<On<'channel'>>('/channels/:channel/messages', (request) => {
    const channel = viewableChannel(context, request.params.channel);
    const { limit = 50, ...rest } = bodyAs<{ limit?: string; before?: string; after?: string }>(
      request.query,
    );
    const page = { ...rest, limit: Number(limit) };
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
    return messageAnswer(context, postMessage(world, channel, readMessageForm(request.body)));
  });

  app.patch<On<'channel' | 'message'>>('/channels/:channel/messages/:message', (request) => {
    const { channel, message } = messageAt(context, request.params);
    const form = readMessageForm(request.body);
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
      if (present && !message.reactions.has(emoji)) requirePermission(context, channel, 'AddReactions');
      setReaction(world, message, { userId: world.botId, emoji, present });
      return reply.code(204).send();
    },
  });
}

/** Threads: begun, opened again, joined, and who is in them. */
export function threadRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.post<On<'channel'>>('/channels/:channel/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
    const { name, type } = bodyAs<RESTPostAPIChannelThreadsJSONBody>(request.body);
    // As in Discord: a thread without a message is private unless the form says otherwise.
    const isPrivate = type !== ChannelType.PublicThread;
    requirePermission(context, parent, isPrivate ? 'CreatePrivateThreads' : 'CreatePublicThreads');
    const thread = createThread(world, { parent, name, ownerId: world.botId, isPrivate });
    return reply.code(201).send(threadPayload(world, thread, world.botId));
  });

  app.post<On<'channel' | 'message'>>('/channels/:channel/messages/:message/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
    const startMessage = messageIn(context, parent, request.params.message);
    const { name } = bodyAs<RESTPostAPIChannelThreadsJSONBody>(request.body);
    requirePermission(context, parent, 'CreatePublicThreads');
    if (world.channels.has(startMessage.id)) throw apiErrors.threadExists();
    const thread = createThread(world, {
      parent,
      name,
      ownerId: world.botId,
      isPrivate: false,
      startMessage,
    });
    return reply.code(201).send(threadPayload(world, thread, world.botId));
  });

  app.patch<On<'channel'>>('/channels/:channel', (request) => {
    const thread = viewableThread(request.params.channel);
    const isIn = thread.members.has(world.botId) || thread.ownerId === world.botId;
    const manages = may(world, thread, world.botId, PermissionFlagsBits.ManageThreads);
    if (!manages && (!isIn || thread.locked)) throw apiErrors.missingPermissions();
    setArchived(world, thread, false);
    return threadPayload(world, thread, world.botId);
  });

  app.get<On<'channel' | 'user'>>('/channels/:channel/thread-members/:user', (request) => {
    const thread = viewableThread(request.params.channel);
    const userId = memberId(request.params.user);
    if (!thread.members.has(userId)) throw apiErrors.unknownMember();
    return threadMemberPayload(thread, userId);
  });

  app.put<On<'channel' | 'user'>>('/channels/:channel/thread-members/:user', (request, reply) => {
    const thread = viewableThread(request.params.channel);
    const userId = memberId(request.params.user);
    requireOpen(context, thread);
    if (memberOf(world, thread.guildId, userId) === undefined) throw apiErrors.unknownMember();
    if (userId !== world.botId) requirePermission(context, thread, 'SendMessagesInThreads');
    joinThread(world, thread, userId);
    return reply.code(204).send();
  });

  function parentChannel(id: string): TextChannel {
    const channel = viewableChannel(context, id);
    if (channel.kind !== 'text') throw apiErrors.wrongChannelType();
    return channel;
  }

  function viewableThread(id: string): ThreadChannel {
    const channel = viewableChannel(context, id);
    if (channel.kind !== 'thread') throw apiErrors.wrongChannelType();
    return channel;
  }

  // Clients write `@me` percent-encoded here, so it cannot be a fixed part of the route.
  function memberId(reference: string): string {
    return reference === '@me' ? world.botId : reference;
  }
}
