import { ChannelType, ThreadAutoArchiveDuration } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { threadPayload } from '../payloads/channel-payload.ts';
import { messagePayload } from '../payloads/message-payload.ts';
import type { TextChannel } from '../world/entities.ts';
import { isLockedFor, may } from '../world/permissions.ts';
import { changeThread } from '../world/thread-state.ts';
import { createPost, createThread, deleteThread } from '../world/threads.ts';
import { PermissionFlagsBits } from 'discord-api-types/v10';

import { apiErrors, parseForm } from './api-error.ts';
import { parseMessageForm, requireContent } from './message-form.ts';
import { contentOf } from './post-message.ts';
import { messageIn, requirePermission, restView, viewableChannel, viewableThread } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';
import { Upload } from './upload.ts';

const name = z.string().min(1).max(100);
const autoArchiveMinutes = z
  .enum(ThreadAutoArchiveDuration)
  .nullish()
  .transform((minutes) => minutes ?? undefined);
const threadSchema = z.object({
  name,
  type: z.literal([ChannelType.PublicThread, ChannelType.PrivateThread]).optional(),
  auto_archive_duration: autoArchiveMinutes,
});
const postSchema = z.object({
  name,
  auto_archive_duration: autoArchiveMinutes,
  message: z.unknown(),
});
const changeSchema = z.object({
  name: name.optional(),
  archived: z.boolean().optional(),
  locked: z.boolean().optional(),
  auto_archive_duration: autoArchiveMinutes,
});

interface InChannel {
  readonly Params: { readonly channel: string };
}
interface OnMessage {
  readonly Params: { readonly channel: string; readonly message: string };
}

/** Threads and a forum's posts: begun, changed, put away, deleted. */
export function threadRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.post<InChannel>('/channels/:channel/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
    if (parent.isForum) return reply.code(201).send(post(parent, request.body));
    const form = parseForm(threadSchema, request.body);
    // As in Discord: a thread without a message is private unless the form says otherwise.
    const isPrivate = (form.type ?? ChannelType.PrivateThread) === ChannelType.PrivateThread;
    requirePermission(context, parent, isPrivate ? 'CreatePrivateThreads' : 'CreatePublicThreads');
    const thread = createThread(world, {
      parent,
      name: form.name,
      ownerId: world.botId,
      isPrivate,
      autoArchiveMinutes: form.auto_archive_duration,
    });
    return reply.code(201).send(threadPayload(world, thread, world.botId));
  });

  app.post<OnMessage>('/channels/:channel/messages/:message/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
    const startMessage = messageIn(context, parent, request.params.message);
    const form = parseForm(threadSchema, request.body);
    requirePermission(context, parent, 'CreatePublicThreads');
    if (world.channels.has(startMessage.id)) throw apiErrors.threadExists();
    const thread = createThread(world, {
      parent,
      name: form.name,
      ownerId: world.botId,
      isPrivate: false,
      startMessage,
      autoArchiveMinutes: form.auto_archive_duration,
    });
    return reply.code(201).send(threadPayload(world, thread, world.botId));
  });

  app.patch<InChannel>('/channels/:channel', (request) => {
    const thread = viewableThread(context, request.params.channel);
    const form = parseForm(changeSchema, request.body);
    const manages = may(world, thread, world.botId, PermissionFlagsBits.ManageThreads);
    const opensOnly = form.archived === false && Object.keys(form).length === 1;
    const isOwn = thread.ownerId === world.botId;
    const allowed = opensOnly ? thread.members.has(world.botId) || isOwn : isOwn && form.locked === undefined;
    if (!manages && (!allowed || isLockedFor(world, thread, world.botId))) {
      throw apiErrors.missingPermissions();
    }
    if (thread.archived && form.archived !== false) throw apiErrors.threadArchived();
    changeThread(world, thread, { ...form, autoArchiveMinutes: form.auto_archive_duration });
    return threadPayload(world, thread, world.botId);
  });

  app.delete<InChannel>('/channels/:channel', (request) => {
    const thread = viewableThread(context, request.params.channel);
    requirePermission(context, thread, 'ManageThreads');
    const payload = threadPayload(world, thread, world.botId);
    deleteThread(world, thread);
    return payload;
  });

  function post(parent: TextChannel, body: unknown): object {
    const upload = body instanceof Upload ? body : undefined;
    const form = parseForm(postSchema, upload?.payload ?? body);
    requirePermission(context, parent, 'SendMessages');
    const message = parseMessageForm(
      upload === undefined ? form.message : new Upload(form.message, upload.files),
    );
    requireContent(message);
    if (message.files.length > 0) requirePermission(context, parent, 'AttachFiles');
    if (message.poll !== undefined) requirePermission(context, parent, 'SendPolls');
    const created = createPost(world, {
      parent,
      name: form.name,
      ownerId: world.botId,
      autoArchiveMinutes: form.auto_archive_duration,
      message: contentOf(world, message, undefined),
    });
    return {
      ...threadPayload(world, created.thread, world.botId),
      message: messagePayload(world, created.message, restView(context)),
    };
  }

  function parentChannel(id: string): TextChannel {
    const channel = viewableChannel(context, id);
    if (channel.kind !== 'text') throw apiErrors.wrongChannelType();
    return channel;
  }
}
