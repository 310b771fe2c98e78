import { ChannelType, PermissionFlagsBits, ThreadAutoArchiveDuration } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { threadMemberPayload, threadPayload } from '../payloads/channel-payload.ts';
import { changeThread, joinThread } from '../world/channels.ts';
import type { TextChannel } from '../world/entities.ts';
import { isLockedFor, may } from '../world/permissions.ts';
import { createThread } from '../world/threads.ts';
import { memberOf } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import {
  messageIn,
  requireOpen,
  requirePermission,
  viewableChannel,
  viewableThread,
  type On,
  type RestContext,
} from './rest-context.ts';

const threadSchema = z.object({
  name: z.string().min(1).max(100),
  type: z.literal([ChannelType.PublicThread, ChannelType.PrivateThread]).optional(),
  auto_archive_duration: z.enum(ThreadAutoArchiveDuration).nullish(),
});
const openingSchema = z.strictObject({ archived: z.literal(false) });

/** Threads: begun, opened again, joined, and who is in them. */
export function threadRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.post<On<'channel'>>('/channels/:channel/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
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
    const change = parseForm(openingSchema, request.body);
    const isIn = thread.members.has(world.botId) || thread.ownerId === world.botId;
    const manages = may(world, thread, world.botId, PermissionFlagsBits.ManageThreads);
    if (!manages && (!isIn || isLockedFor(world, thread, world.botId))) throw apiErrors.missingPermissions();
    changeThread(world, thread, change);
    return threadPayload(world, thread, world.botId);
  });

  app.get<On<'channel' | 'user'>>('/channels/:channel/thread-members/:user', (request) => {
    const thread = viewableThread(context, request.params.channel);
    const userId = memberId(request.params.user);
    if (!thread.members.has(userId)) throw apiErrors.unknownMember();
    return threadMemberPayload(thread, userId);
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

  function begun(
    { name, auto_archive_duration: minutes }: z.infer<typeof threadSchema>,
    where: Pick<Parameters<typeof createThread>[1], 'parent' | 'isPrivate' | 'startMessage'>,
  ): object {
    const basics = { name, ownerId: world.botId, autoArchiveMinutes: minutes ?? undefined };
    return threadPayload(world, createThread(world, { ...basics, ...where }), world.botId);
  }

  function parentChannel(id: string): TextChannel {
    const channel = viewableChannel(context, id);
    if (channel.kind !== 'text' || channel.form === 'forum') throw apiErrors.wrongChannelType();
    return channel;
  }

  // Clients write `@me` percent-encoded here, so it cannot be a fixed part of the route.
  function memberId(reference: string): string {
    return reference === '@me' ? world.botId : reference;
  }
}
