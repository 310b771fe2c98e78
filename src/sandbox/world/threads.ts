import { MessageFlags, MessageType, ThreadAutoArchiveDuration } from 'discord-api-types/v10';

import type { Message, TextChannel, ThreadChannel } from './entities.ts';
import { createMessage, type NewMessage } from './messages.ts';
import type { World } from './world.ts';

interface ThreadBasics {
  readonly parent: TextChannel;
  readonly name: string;
  readonly ownerId: string;
  /** One of Discord's durations; a day if not said. */
  readonly autoArchiveMinutes?: ThreadAutoArchiveDuration | undefined;
}

interface NewThread extends ThreadBasics {
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

interface NewPost extends ThreadBasics {
  readonly message: Omit<NewMessage, 'id' | 'channel' | 'authorId' | 'type'>;
}

/** Opens a post of a forum: a thread and its first message, with one id. */
export function createPost(
  world: World,
  input: NewPost,
): { readonly thread: ThreadChannel; readonly message: Message } {
  const id = world.nextId();
  const thread = addThread(world, id, input);
  const message = createMessage(world, { ...input.message, id, channel: thread, authorId: input.ownerId });
  return { thread, message };
}

function addThread(
  world: World,
  id: string,
  {
    parent,
    name,
    ownerId,
    autoArchiveMinutes,
    isPrivate = false,
    memberIds = [],
  }: ThreadBasics & Partial<NewThread>,
): ThreadChannel {
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
    autoArchiveMinutes: autoArchiveMinutes ?? ThreadAutoArchiveDuration.OneDay,
    archiveChangedAt: createdAt,
    sent: 0,
  };
  world.channels.set(thread.id, thread);
  world.emit({ type: 'thread-created', thread });
  return thread;
}

/** Deletes a thread with its messages. */
export function deleteThread(world: World, thread: ThreadChannel): void {
  world.channels.delete(thread.id);
  world.messages.delete(thread.id);
  world.emit({ type: 'thread-deleted', thread });
}
