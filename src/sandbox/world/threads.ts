import { MessageType } from 'discord-api-types/v10';

import type { Message, TextChannel, ThreadChannel } from './entities.ts';
import { createMessage } from './messages.ts';
import type { World } from './world.ts';

export interface NewThread {
  readonly parent: TextChannel;
  readonly name: string;
  readonly ownerId: string;
  readonly isPrivate: boolean;
  readonly memberIds?: readonly string[];
  /** The message the thread hangs on; the thread then has its id. */
  readonly startMessage?: Message;
}

/**
 * Opens a thread. As in Discord, a thread on a message begins with a pointer to it, and a public one without a message
 * leaves a note in its parent channel; both are system messages.
 */
export function createThread(world: World, input: NewThread): ThreadChannel {
  const createdAt = world.now().toISOString();
  const thread: ThreadChannel = {
    kind: 'thread',
    id: input.startMessage?.id ?? world.nextId(),
    guildId: input.parent.guildId,
    parentId: input.parent.id,
    name: input.name,
    isPrivate: input.isPrivate,
    ownerId: input.ownerId,
    members: new Map([input.ownerId, ...(input.memberIds ?? [])].map((id) => [id, createdAt])),
    createdAt,
  };
  world.channels.set(thread.id, thread);
  world.emit({ type: 'thread-created', thread });
  if (input.startMessage !== undefined) {
    createMessage(world, {
      channel: thread,
      authorId: input.ownerId,
      text: '',
      mentions: { userIds: [], everyone: false },
      type: MessageType.ThreadStarterMessage,
      replyTo: { channelId: input.parent.id, messageId: input.startMessage.id },
    });
  } else if (!input.isPrivate) {
    createMessage(world, {
      channel: input.parent,
      authorId: input.ownerId,
      text: input.name,
      mentions: { userIds: [], everyone: false },
      type: MessageType.ThreadCreated,
      replyTo: { channelId: thread.id, messageId: thread.id },
    });
  }
  return thread;
}

/** Deletes a thread with its messages. */
export function deleteThread(world: World, thread: ThreadChannel): void {
  world.channels.delete(thread.id);
  world.messages.delete(thread.id);
  world.emit({ type: 'thread-deleted', thread });
}
