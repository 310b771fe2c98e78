import { DiscordSnowflake } from '@sapphire/snowflake';
import { PermissionFlagsBits } from 'discord-api-types/v10';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { channelPayload } from '../payloads/channel-payload.ts';
import {
  deleteMessage,
  deleteMessages,
  editMessage,
  maxPins,
  messagePage,
  messagesOf,
  pinMessage,
  pinnedMessages,
  unpinMessage,
} from '../world/messages.ts';
import { isLockedFor, may } from '../world/permissions.ts';
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
    world.emit({ type: 'typing-started', channel, userId: world.botId, at: world.now() });
    return reply.code(204).send();
  });
}

const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  before: z.string().optional(),
  after: z.string().optional(),
  around: z.string().optional(),
});
const bulkDeleteSchema = z.object({ messages: z.array(z.string()) });

/** Messages older than this cannot be deleted in bulk, in milliseconds. */
const bulkDeleteAge = 14 * 24 * 3_600_000;

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
    if (form.text !== undefined && change.attachments.length === 0) requireContent(form);
    if (form.files.length > 0 && channel.kind !== 'dm') requirePermission(context, channel, 'AttachFiles');
    editMessage(world, message, { ...change, flags: form.flags });
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
    deleteMessage(world, channel.id, message.id);
    return reply.code(204).send();
  });

  app.post<On<'channel'>>('/channels/:channel/messages/bulk-delete', (request, reply) => {
    const channel = viewableChannel(context, request.params.channel);
    if (channel.kind === 'dm') throw apiErrors.notInDm();
    requirePermission(context, channel, 'ManageMessages');
    const ids = parseForm(bulkDeleteSchema, request.body).messages;
    if (ids.length < 2 || ids.length > 100) throw apiErrors.bulkDeleteCount();
    const oldest = world.now().getTime() - bulkDeleteAge;
    if (ids.some((id) => DiscordSnowflake.timestampFrom(id) < oldest)) throw apiErrors.bulkDeleteAge();
    deleteMessages(world, channel.id, ids);
    return reply.code(204).send();
  });
}

const pinPageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(50).default(50),
  before: z.iso.datetime({ offset: true }).optional(),
});

/** Pinned messages, under today's path and under the one that Discord still answers. */
export function pinRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<On<'channel'>>('/channels/:channel/messages/pins', (request) => {
    const { limit, before } = parseForm(pinPageSchema, request.query);
    const until = before === undefined ? Infinity : Date.parse(before);
    const found = listed(request.params.channel).filter(({ pinnedAt }) => Date.parse(pinnedAt) < until);
    return {
      items: found.slice(0, limit).map((message) => ({
        pinned_at: message.pinnedAt,
        message: messageAnswer(context, message),
      })),
      has_more: found.length > limit,
    };
  });

  app.get<On<'channel'>>('/channels/:channel/pins', (request) =>
    listed(request.params.channel)
      .slice(0, 50)
      .map((message) => messageAnswer(context, message)),
  );

  for (const path of ['/channels/:channel/messages/pins/:message', '/channels/:channel/pins/:message']) {
    app.put<On<'channel' | 'message'>>(path, pin);
    app.delete<On<'channel' | 'message'>>(path, unpin);
  }

  function pin(request: FastifyRequest<On<'channel' | 'message'>>, reply: FastifyReply): FastifyReply {
    const { channel, message } = messageAt(context, request.params);
    requirePermission(context, channel, 'PinMessages');
    if (message.pinnedAt === null && pinnedMessages(world, channel.id).length >= maxPins) {
      throw apiErrors.tooManyPins();
    }
    pinMessage(world, channel, message, world.botId);
    return reply.code(204).send();
  }

  function unpin(request: FastifyRequest<On<'channel' | 'message'>>, reply: FastifyReply): FastifyReply {
    const { channel, message } = messageAt(context, request.params);
    requirePermission(context, channel, 'PinMessages');
    unpinMessage(world, channel, message);
    return reply.code(204).send();
  }

  /** As for history, Discord shows nothing without the right to read it. */
  function listed(channelId: string): ReturnType<typeof pinnedMessages> {
    const channel = viewableChannel(context, channelId);
    const readable = may(world, channel, world.botId, PermissionFlagsBits.ReadMessageHistory);
    return readable ? pinnedMessages(world, channel.id) : [];
  }
}
