import type {
  Channel,
  EphemeralMessage,
  Guild,
  Interaction,
  Member,
  Message,
  Presence,
  Role,
  TextChannel,
  ThreadChannel,
} from './entities.ts';

/** What happened in the world, in the order it happened. The gateway turns it into Discord's dispatches. */
export type WorldEvent =
  | { readonly type: 'message-created'; readonly message: Message }
  | { readonly type: 'message-edited'; readonly message: Message }
  /** Something about it changed that is no edit: it was pinned, or has a thread now. */
  | { readonly type: 'message-touched'; readonly message: Message }
  | { readonly type: 'pins-changed'; readonly channel: Channel }
  | { readonly type: 'presence-changed'; readonly presence: Presence }
  | { readonly type: 'message-deleted'; readonly channelId: string; readonly messageId: string }
  | { readonly type: 'messages-deleted'; readonly channelId: string; readonly messageIds: readonly string[] }
  | {
      readonly type: 'ephemeral-created' | 'ephemeral-edited' | 'ephemeral-deleted';
      readonly ephemeral: EphemeralMessage;
    }
  | {
      readonly type: 'reaction-added' | 'reaction-removed';
      readonly message: Message;
      readonly userId: string;
      readonly emoji: string;
    }
  | {
      readonly type: 'vote-added' | 'vote-removed';
      readonly message: Message;
      readonly userId: string;
      readonly answerId: number;
    }
  /** Everybody's: of one emoji, or all. */
  | { readonly type: 'reactions-cleared'; readonly message: Message; readonly emoji?: string }
  | {
      readonly type: 'channel-created' | 'channel-updated' | 'channel-deleted';
      readonly channel: TextChannel;
    }
  | { readonly type: 'thread-created'; readonly thread: ThreadChannel }
  | { readonly type: 'thread-updated' | 'thread-unarchived'; readonly thread: ThreadChannel }
  /** The bot can see a channel that it could not see before. */
  | { readonly type: 'access-gained'; readonly channel: TextChannel }
  | { readonly type: 'thread-deleted'; readonly thread: ThreadChannel }
  | { readonly type: 'thread-joined'; readonly thread: ThreadChannel; readonly userId: string }
  | { readonly type: 'thread-left'; readonly thread: ThreadChannel; readonly userId: string }
  | { readonly type: 'role-created' | 'role-updated'; readonly guildId: string; readonly role: Role }
  | { readonly type: 'guild-created'; readonly guild: Guild }
  | { readonly type: 'member-added' | 'member-updated'; readonly guildId: string; readonly member: Member }
  | { readonly type: 'typing-started'; readonly channel: Channel; readonly userId: string; readonly at: Date }
  | { readonly type: 'interaction-created'; readonly interaction: Interaction }
  | { readonly type: 'interaction-updated'; readonly interaction: Interaction };
