import { ChannelType, PermissionFlagsBits, ThreadAutoArchiveDuration } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { threadList, threadMemberPayload, threadPayload } from '../payloads/channel-payload.ts';
import { memberPayload } from '../payloads/guild-payload.ts';
import { changeThread, joinThread, leaveThread } from '../world/channels.ts';
import type { TextChannel, ThreadChannel } from '../world/entities.ts';
import { isLockedFor, may } from '../world/permissions.ts';
import { createPost, createThread, deleteThread } from '../world/threads.ts';
import { memberOf } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { parseMessageForm, requireContent, Upload } from './message-form.ts';
import { contentOf } from './post-message.ts';
import {
  messageAnswer,
  messageIn,
  requireOpen,
  requirePermission,
  viewableChannel,
  viewableThread,
  type On,
  type RestContext,
} from './rest-context.ts';

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

type ThreadStart = Pick<Parameters<typeof createThread>[1], 'parent' | 'isPrivate' | 'startMessage'>;

/** Threads and a forum's posts: begun, changed, put away, deleted. */
export function threadRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.post<On<'channel'>>('/channels/:channel/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
    if (parent.form === 'forum') return reply.code(201).send(post(parent, request.body));
    const form = parseForm(threadSchema, request.body);
    // As in Discord: a thread without a message is private unless the form says otherwise.
    const isPrivate = (form.type ?? ChannelType.PrivateThread) === ChannelType.PrivateThread;
    requirePermission(context, parent, isPrivate ? 'CreatePrivateThreads' : 'CreatePublicThreads');
    return reply.code(201).send(begun(form, { parent, isPrivate }));
  });

  app.post<On<'channel' | 'message'>>('/channels/:channel/messages/:message/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
    const startMessage = messageIn(context, parent, request.params.message);
    const form = parseForm(threadSchema, request.body);
    requirePermission(context, parent, 'CreatePublicThreads');
    if (world.channels.has(startMessage.id)) throw apiErrors.threadExists();
    return reply.code(201).send(begun(form, { parent, isPrivate: false, startMessage }));
  });

  app.patch<On<'channel'>>('/channels/:channel', (request) => {
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

  app.delete<On<'channel'>>('/channels/:channel', (request) => {
    const thread = viewableThread(context, request.params.channel);
    requirePermission(context, thread, 'ManageThreads');
    const payload = threadPayload(world, thread, world.botId);
    deleteThread(world, thread);
    return payload;
  });

  function begun(form: z.infer<typeof threadSchema>, where: ThreadStart): object {
    const basics = { name: form.name, ownerId: world.botId, autoArchiveMinutes: form.auto_archive_duration };
    return threadPayload(world, createThread(world, { ...basics, ...where }), world.botId);
  }

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
      message: messageAnswer(context, created.message),
    };
  }

  function parentChannel(id: string): TextChannel {
    const channel = viewableChannel(context, id);
    if (channel.kind !== 'text') throw apiErrors.wrongChannelType();
    return channel;
  }
}

const memberQuery = z.object({ with_member: z.enum(['true', 'false']).default('false') });
const archiveQuery = z.object({
  before: z.string().optional(),
  limit: z.coerce.number().int().min(2).max(100).default(50),
});

/** Who is in a thread, and which threads were put away. */
export function threadListRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<On<'channel'>>('/channels/:channel/thread-members', (request) => {
    const thread = viewableThread(context, request.params.channel);
    const withMember = parseForm(memberQuery, request.query).with_member === 'true';
    return Array.from(thread.members.keys(), (userId) => memberIn(thread, userId, withMember));
  });

  app.get<On<'channel' | 'user'>>('/channels/:channel/thread-members/:user', (request) => {
    const thread = viewableThread(context, request.params.channel);
    const userId = memberId(request.params.user);
    if (!thread.members.has(userId)) throw apiErrors.unknownMember();
    return memberIn(thread, userId, parseForm(memberQuery, request.query).with_member === 'true');
  });

  app.put<On<'channel' | 'user'>>('/channels/:channel/thread-members/:user', (request, reply) => {
    const thread = viewableThread(context, request.params.channel);
    const userId = memberId(request.params.user);
    requireOpen(context, thread);
    if (memberOf(world, thread.guildId, userId) === undefined) throw apiErrors.unknownMember();
    if (userId !== world.botId) requirePermission(context, thread, 'SendMessagesInThreads');
    joinThread(world, thread, userId);
    return reply.code(204).send();
  });

  app.delete<On<'channel' | 'user'>>('/channels/:channel/thread-members/:user', (request, reply) => {
    const thread = viewableThread(context, request.params.channel);
    const userId = memberId(request.params.user);
    requireOpen(context, thread);
    const mayRemove = userId === world.botId || (thread.isPrivate && thread.ownerId === world.botId);
    if (!mayRemove) requirePermission(context, thread, 'ManageThreads');
    leaveThread(world, thread, userId);
    return reply.code(204).send();
  });

  app.get<On<'channel'>>('/channels/:channel/threads/archived/public', (request) =>
    archived(request.params.channel, request.query, ({ isPrivate }) => !isPrivate),
  );

  app.get<On<'channel'>>('/channels/:channel/threads/archived/private', (request) => {
    requirePermission(context, viewableChannel(context, request.params.channel), 'ManageThreads');
    return archived(request.params.channel, request.query, ({ isPrivate }) => isPrivate);
  });

  app.get<On<'channel'>>('/channels/:channel/users/@me/threads/archived/private', (request) =>
    archived(
      request.params.channel,
      request.query,
      ({ isPrivate, members }) => isPrivate && members.has(world.botId),
    ),
  );

  // Clients write `@me` percent-encoded here, so it cannot be a fixed part of the route.
  function memberId(reference: string): string {
    return reference === '@me' ? world.botId : reference;
  }

  function memberIn(thread: ThreadChannel, userId: string, withMember: boolean): object {
    const member = withMember ? memberOf(world, thread.guildId, userId) : undefined;
    return {
      ...threadMemberPayload(thread, userId),
      ...(member === undefined ? {} : { member: memberPayload(world, member) }),
    };
  }

  /** The one put away last first. */
  function archived(channelId: string, query: unknown, wanted: (thread: ThreadChannel) => boolean): object {
    const parent = viewableChannel(context, channelId);
    requirePermission(context, parent, 'ReadMessageHistory');
    const { before, limit } = parseForm(archiveQuery, query);
    const found = [...world.channels.values()]
      .flatMap((channel) => (channel.kind === 'thread' && channel.parentId === parent.id ? [channel] : []))
      .filter((thread) => thread.archived && wanted(thread) && isBefore(thread, before))
      .toSorted((a, b) => Date.parse(b.archiveChangedAt) - Date.parse(a.archiveChangedAt));
    const page = found.slice(0, limit);
    return {
      ...threadList(world, page),
      has_more: found.length > page.length,
    };
  }
}

/** Pages go on from a time, and those of the joined private threads from an id. */
function isBefore(thread: ThreadChannel, before: string | undefined): boolean {
  if (before === undefined) return true;
  if (/^\d+$/.test(before)) return BigInt(thread.id) < BigInt(before);
  return Date.parse(thread.archiveChangedAt) < Date.parse(before);
}
