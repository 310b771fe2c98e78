import { DiscordSnowflake } from '@sapphire/snowflake';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { messagePayload } from '../payloads/message-payload.ts';
import { mentionsIn } from '../world/mentions.ts';
import { messagePage } from '../world/message-page.ts';
import { deleteMessage, deleteMessages, editMessage, findMessage, messagesOf } from '../world/messages.ts';
import { isLockedFor, may } from '../world/permissions.ts';
import { PermissionFlagsBits } from 'discord-api-types/v10';

import { apiErrors, parseForm } from './api-error.ts';
import { parseMessageForm, requireContent } from './message-form.ts';
import { attachmentsAfter, postMessage } from './post-message.ts';
import { messageIn, requireOpen, requirePermission, restView, viewableChannel } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const pageSchema = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(50),
  before: z.string().optional(),
  after: z.string().optional(),
  around: z.string().optional(),
});
const bulkDeleteSchema = z.object({ messages: z.array(z.string()) });

/** Messages older than this cannot be deleted in bulk, in milliseconds. */
const bulkDeleteAge = 14 * 24 * 3_600_000;

interface InChannel {
  readonly Params: { readonly channel: string };
}
interface OnMessage {
  readonly Params: { readonly channel: string; readonly message: string };
}

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
    const channel = viewableChannel(context, request.params.channel);
    const message = messageIn(context, channel, request.params.message);
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
    const channel = viewableChannel(context, request.params.channel);
    const message = messageIn(context, channel, request.params.message);
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
