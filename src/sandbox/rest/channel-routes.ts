import { DiscordSnowflake } from '@sapphire/snowflake';
import { PermissionFlagsBits } from 'discord-api-types/v10';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { channelPayload } from '../payloads/channel-payload.ts';
import { messagePayload } from '../payloads/message-payload.ts';
import { mentionsIn } from '../world/mentions.ts';
import {
  deleteMessage,
  deleteMessages,
  editMessage,
  findMessage,
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
import { attachmentsAfter, postMessage } from './post-message.ts';
import {
  messageAt,
  messageIn,
  requireOpen,
  requirePermission,
  restView,
  viewableChannel,
  type InChannel,
  type OnMessage,
  type RestContext,
} from './rest-context.ts';

/** Channels themselves: what they are, and typing in them. */
export function channelRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<InChannel>('/channels/:channel', (request) =>
    channelPayload(world, viewableChannel(context, request.params.channel), world.botId),
  );

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

  app.get<InChannel>('/channels/:channel/messages', (request) => {
    const channel = viewableChannel(context, request.params.channel);
    const page = parseForm(pageSchema, request.query);
    // Without the right to read history Discord answers with an empty page instead of an error.
    if (!may(world, channel, world.botId, PermissionFlagsBits.ReadMessageHistory)) return [];
    return messagePage(messagesOf(world, channel.id), page).map((message) =>
      messagePayload(world, message, restView(context)),
    );
  });

  app.get<OnMessage>('/channels/:channel/messages/:message', (request) => {
    const channel = viewableChannel(context, request.params.channel);
    requirePermission(context, channel, 'ReadMessageHistory');
    return messagePayload(world, messageIn(context, channel, request.params.message), restView(context));
  });

  app.post<InChannel>('/channels/:channel/messages', (request) => {
    const channel = viewableChannel(context, request.params.channel);
    return messagePayload(
      world,
      postMessage(world, channel, parseMessageForm(request.body)),
      restView(context),
    );
  });

  app.patch<OnMessage>('/channels/:channel/messages/:message', (request) => {
    const { channel, message } = messageAt(context, request.params);
    const form = parseMessageForm(request.body);
    if (message.authorId !== world.botId) throw apiErrors.foreignMessage();
    if (message.poll !== undefined) throw apiErrors.pollIsFixed();
    requireOpen(context, channel);
    const attachments = attachmentsAfter(world, message, form);
    if (form.text !== undefined && attachments.length === 0) requireContent(form);
    if (form.files.length > 0 && channel.kind !== 'dm') requirePermission(context, channel, 'AttachFiles');
    const { replyTo } = message;
    const replied =
      replyTo === undefined ? undefined : findMessage(world, replyTo.channelId, replyTo.messageId);
    editMessage(world, message, {
      text: form.text,
      embeds: form.embeds,
      components: form.components,
      attachments,
      flags: form.flags,
      ...(form.text === undefined
        ? {}
        : { mentions: mentionsIn(form.text, form.allowedMentions ?? undefined, replied?.authorId) }),
    });
    return messagePayload(world, message, restView(context));
  });

  app.delete<OnMessage>('/channels/:channel/messages/:message', (request, reply) => {
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

  app.post<InChannel>('/channels/:channel/messages/bulk-delete', (request, reply) => {
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

  app.get<InChannel>('/channels/:channel/messages/pins', (request) => {
    const { limit, before } = parseForm(pinPageSchema, request.query);
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
    const { channel, message } = messageAt(context, request.params);
    requirePermission(context, channel, 'PinMessages');
    if (message.pinnedAt === null && pinnedMessages(world, channel.id).length >= maxPins) {
      throw apiErrors.tooManyPins();
    }
    pinMessage(world, channel, message, world.botId);
    return reply.code(204).send();
  }

  function unpin(request: FastifyRequest<OnMessage>, reply: FastifyReply): FastifyReply {
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
