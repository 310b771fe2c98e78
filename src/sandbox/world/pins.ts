import { MessageType } from 'discord-api-types/v10';

import type { Channel, Message } from './entities.ts';
import { createMessage, messagesOf } from './messages.ts';
import type { World } from './world.ts';

/** So many messages of a channel can be pinned. */
export const maxPins = 250;

/** The pinned messages of a channel, the one pinned last first. */
export function pinnedMessages(world: World, channelId: string): readonly (Message & { pinnedAt: string })[] {
  return messagesOf(world, channelId)
    .filter((message): message is Message & { pinnedAt: string } => message.pinnedAt !== null)
    .toSorted((a, b) => Date.parse(b.pinnedAt) - Date.parse(a.pinnedAt));
}

/** Pins a message, and leaves a note of it in the channel; already pinned is fine. */
export function pinMessage(world: World, channel: Channel, message: Message, userId: string): void {
  if (message.pinnedAt !== null) return;
  message.pinnedAt = world.now().toISOString();
  world.emit({ type: 'message-touched', message });
  world.emit({ type: 'pins-changed', channel });
  createMessage(world, {
    channel,
    authorId: userId,
    text: '',
    mentions: { userIds: [], everyone: false },
    type: MessageType.ChannelPinnedMessage,
    replyTo: { channelId: channel.id, messageId: message.id },
  });
}

/** Unpins a message; not pinned is fine. */
export function unpinMessage(world: World, channel: Channel, message: Message): void {
  if (message.pinnedAt === null) return;
  message.pinnedAt = null;
  world.emit({ type: 'message-touched', message });
  world.emit({ type: 'pins-changed', channel });
}
