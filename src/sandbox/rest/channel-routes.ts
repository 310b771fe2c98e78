import { ChannelType } from 'discord-api-types/v10';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';

import { channelPayload, threadMemberPayload, threadPayload } from '../payloads/channel-payload.ts';
import { openDm } from '../world/channels.ts';
import type { TextChannel, ThreadChannel } from '../world/entities.ts';
import { joinThread, leaveThread } from '../world/thread-members.ts';
import { createThread } from '../world/threads.ts';
import { memberOf } from '../world/world.ts';
import { apiErrors, parseForm } from './api-error.ts';
import { messageIn, requirePermission, viewableChannel } from './rest-context.ts';
import type { RestContext } from './rest-context.ts';

const dmSchema = z.object({ recipient_id: z.string() });
const threadSchema = z.object({
  name: z.string().min(1).max(100),
  type: z.literal([ChannelType.PublicThread, ChannelType.PrivateThread]).optional(),
});

interface InChannel {
  readonly Params: { readonly channel: string };
}
interface OnMessage {
  readonly Params: { readonly channel: string; readonly message: string };
}
interface OnMember {
  readonly Params: { readonly channel: string; readonly user: string };
}

/** Channels, DMs, threads, typing. */
export function channelRoutes(app: FastifyInstance, context: RestContext): void {
  const { world } = context;

  app.get<InChannel>('/channels/:channel', (request) =>
    channelPayload(world, viewableChannel(context, request.params.channel), world.botId),
  );

  app.post('/users/@me/channels', (request) => {
    const { recipient_id: personId } = parseForm(dmSchema, request.body);
    const person = world.users.get(personId);
    if (person === undefined) throw apiErrors.unknownUser();
    if (person.bot) throw apiErrors.cannotDm();
    return channelPayload(world, openDm(world, personId), world.botId);
  });

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

  app.post<InChannel>('/channels/:channel/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
    const form = parseForm(threadSchema, request.body);
    // As in Discord: a thread without a message is private unless the form says otherwise.
    const isPrivate = (form.type ?? ChannelType.PrivateThread) === ChannelType.PrivateThread;
    requirePermission(context, parent, isPrivate ? 'CreatePrivateThreads' : 'CreatePublicThreads');
    const thread = createThread(world, { parent, name: form.name, ownerId: world.botId, isPrivate });
    return reply.code(201).send(threadPayload(world, thread, world.botId));
  });

  app.post<OnMessage>('/channels/:channel/messages/:message/threads', (request, reply) => {
    const parent = parentChannel(request.params.channel);
    const startMessage = messageIn(context, parent, request.params.message);
    const { name } = parseForm(threadSchema, request.body);
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

  app.get<InChannel>('/channels/:channel/thread-members', (request) => {
    const thread = viewableThread(request.params.channel);
    return Array.from(thread.members.keys(), (userId) => threadMemberPayload(thread, userId));
  });

  app.get<OnMember>('/channels/:channel/thread-members/:user', (request) => {
    const thread = viewableThread(request.params.channel);
    const userId = memberId(request.params.user);
    if (!thread.members.has(userId)) throw apiErrors.unknownMember();
    return threadMemberPayload(thread, userId);
  });

  app.put<OnMember>('/channels/:channel/thread-members/:user', (request, reply) => {
    const thread = viewableThread(request.params.channel);
    const userId = memberId(request.params.user);
    if (memberOf(world, thread.guildId, userId) === undefined) throw apiErrors.unknownMember();
    if (userId !== world.botId) requirePermission(context, thread, 'SendMessagesInThreads');
    joinThread(world, thread, userId);
    return reply.code(204).send();
  });

  app.delete<OnMember>('/channels/:channel/thread-members/:user', (request, reply) => {
    const thread = viewableThread(request.params.channel);
    const userId = memberId(request.params.user);
    if (userId !== world.botId) requirePermission(context, thread, 'ManageThreads');
    leaveThread(world, thread, userId);
    return reply.code(204).send();
  });

  // Clients write `@me` percent-encoded here, so it cannot be a fixed part of the route.
  function memberId(reference: string): string {
    return reference === '@me' ? world.botId : reference;
  }

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
}
