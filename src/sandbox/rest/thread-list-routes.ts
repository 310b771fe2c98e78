import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { threadMemberPayload, threadPayload } from '../payloads/channel-payload.ts';
import { memberPayload } from '../payloads/guild-payload.ts';
import type { ThreadChannel } from '../world/entities.ts';
import { joinThread, leaveThread } from '../world/thread-members.ts';
import { memberOf } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { requireOpen, requirePermission, viewableChannel, viewableThread } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const memberQuery = z.object({ with_member: z.enum(['true', 'false']).default('false') });
const archiveQuery = z.object({
  before: z.string().optional(),
  limit: z.coerce.number().int().min(2).max(100).default(50),
});

interface InChannel {
  readonly Params: { readonly channel: string };
}
interface OnMember {
  readonly Params: { readonly channel: string; readonly user: string };
}

/** Who is in a thread, and which threads were put away. */
export function threadListRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<InChannel>('/channels/:channel/thread-members', (request) => {
    const thread = viewableThread(context, request.params.channel);
    const withMember = parseForm(memberQuery, request.query).with_member === 'true';
    return Array.from(thread.members.keys(), (userId) => memberIn(thread, userId, withMember));
  });

  app.get<OnMember>('/channels/:channel/thread-members/:user', (request) => {
    const thread = viewableThread(context, request.params.channel);
    const userId = memberId(request.params.user);
    if (!thread.members.has(userId)) throw apiErrors.unknownMember();
    return memberIn(thread, userId, parseForm(memberQuery, request.query).with_member === 'true');
  });

  app.put<OnMember>('/channels/:channel/thread-members/:user', (request, reply) => {
    const thread = viewableThread(context, request.params.channel);
    const userId = memberId(request.params.user);
    requireOpen(context, thread);
    if (memberOf(world, thread.guildId, userId) === undefined) throw apiErrors.unknownMember();
    if (userId !== world.botId) requirePermission(context, thread, 'SendMessagesInThreads');
    joinThread(world, thread, userId);
    return reply.code(204).send();
  });

  app.delete<OnMember>('/channels/:channel/thread-members/:user', (request, reply) => {
    const thread = viewableThread(context, request.params.channel);
    const userId = memberId(request.params.user);
    requireOpen(context, thread);
    const mayRemove = userId === world.botId || (thread.isPrivate && thread.ownerId === world.botId);
    if (!mayRemove) requirePermission(context, thread, 'ManageThreads');
    leaveThread(world, thread, userId);
    return reply.code(204).send();
  });

  app.get<InChannel>('/channels/:channel/threads/archived/public', (request) =>
    archived(request.params.channel, request.query, ({ isPrivate }) => !isPrivate),
  );

  app.get<InChannel>('/channels/:channel/threads/archived/private', (request) => {
    requirePermission(context, viewableChannel(context, request.params.channel), 'ManageThreads');
    return archived(request.params.channel, request.query, ({ isPrivate }) => isPrivate);
  });

  app.get<InChannel>('/channels/:channel/users/@me/threads/archived/private', (request) =>
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
      threads: page.map((thread) => threadPayload(world, thread, world.botId)),
      members: page
        .filter(({ members }) => members.has(world.botId))
        .map((thread) => threadMemberPayload(thread, world.botId)),
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
