import { MessageFlags, MessageType } from 'discord-api-types/v10';

import type { Message, TextChannel, ThreadChannel } from './entities.ts';
import { createMessage } from './messages.ts';
import type { World } from './world.ts';

interface NewThread {
  readonly parent: TextChannel;
  readonly name: string;
  readonly ownerId: string;
  readonly isPrivate: boolean;
  readonly memberIds?: readonly string[];
  /** The message the thread hangs on; the thread then has its id. */
  readonly startMessage?: Message | undefined;
}

/**
 * Opens a thread. As in Discord, a thread on a message begins with a pointer to it, and a public one without a message
 * leaves a note in its parent channel; both are system messages.
 */
export function createThread(world: World, input: NewThread): ThreadChannel {
  const { parent, ownerId, startMessage } = input;
  const thread = addThread(world, startMessage?.id ?? world.nextId(), input);
  if (startMessage !== undefined) {
    startMessage.flags |= MessageFlags.HasThread;
    world.emit({ type: 'thread-attached', message: startMessage });
    createMessage(world, {
      authorId: ownerId,
      channel: thread,
      type: MessageType.ThreadStarterMessage,
      replyTo: { channelId: parent.id, messageId: startMessage.id },
    });
  } else if (!input.isPrivate) {
    createMessage(world, {
      authorId: ownerId,
      channel: parent,
      text: input.name,
      type: MessageType.ThreadCreated,
      replyTo: { channelId: thread.id, messageId: thread.id },
    });
  }
  return thread;
}

/** A thread with this id, without any message yet. */
export function addThread(world: World, id: string, input: Omit<NewThread, 'startMessage'>): ThreadChannel {
  const { parent, name, ownerId, isPrivate, memberIds = [] } = input;
  const createdAt = world.now().toISOString();
  const thread: ThreadChannel = {
    kind: 'thread',
    id,
    guildId: parent.guildId,
    parentId: parent.id,
    name,
    isPrivate,
    ownerId,
    members: new Map([ownerId, ...memberIds].map((memberId) => [memberId, createdAt])),
    createdAt,
    archived: false,
    locked: false,
    archiveChangedAt: createdAt,
  };
  world.channels.set(thread.id, thread);
  world.emit({ type: 'thread-created', thread });
  return thread;
}
