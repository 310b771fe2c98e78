import { LRUCache } from 'lru-cache';

import type { ChatMessage, HistoryPort } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import { WarmChannel } from './warm-channel.ts';

/** Channels whose messages are kept in memory. */
const warmChannels = 500;
/** Removed messages that are remembered, since a message of the bot's own may be told of after its deletion. */
const rememberedRemovals = 2000;
/** Messages asked for where a channel is cold; twice what a history window can hold, for those that are left out [H1]. */
const coldLimit = 50;

export interface HistoryOptions {
  /** A channel's newest messages from Discord, in any order; rejects where Discord does. */
  readonly fetchNewest: (channelId: string, limit: number) => Promise<readonly ChatMessage[]>;
  /** Commands, their answers and error lines, by id [F2]. */
  readonly isHidden: (channelId: string, messageId: string) => boolean | Promise<boolean>;
  /** Whether a text is a command: in a cold channel its message may be unknown to `isHidden`. */
  readonly isCommand: (text: string) => boolean;
  readonly logger: Logger;
}

/** Warm memory of what was said, fed by the gateway's events. */
export interface History extends HistoryPort {
  /** A message was written, by whomever; told again, or after it was removed, nothing changes. */
  seen(message: ChatMessage): void;
  edited(channelId: string, messageId: string, text: string): void;
  removed(channelId: string, messageIds: readonly string[]): void;
  /** A message that is in warm memory. */
  messageOf(channelId: string, messageId: string): ChatMessage | undefined;
  /** Whether a message is a command, the answer to one, or an error line; what cannot be known is hidden [F2]. */
  isHidden(message: ChatMessage): Promise<boolean>;
  /** The text of a message that is in warm memory. */
  textOf(channelId: string, messageId: string): string | undefined;
  /** Events were missed: every channel is cold from now on. */
  forgetAll(): void;
}

/**
 * The newest messages of a channel [H2]: from warm memory; a cold channel is fetched once, and kept current by its events from then on.
 * Without an answer from Discord, history is what is known.
 */
export function createHistory(options: HistoryOptions): History {
  const { fetchNewest, isHidden, isCommand, logger } = options;
  const channels = new LRUCache<string, WarmChannel>({ max: warmChannels });
  const removals = new LRUCache<string, true>({ max: rememberedRemovals });

  function channelOf(channelId: string): WarmChannel {
    const known = channels.get(channelId);
    if (known !== undefined) return known;
    const channel = new WarmChannel();
    channels.set(channelId, channel);
    return channel;
  }

  /** A thread has the id of the message that it was made from, which stands in its history too. */
  const threadFrom = (messageId: string): WarmChannel | undefined => channels.peek(messageId);

  async function isHiddenMessage({ id, channelId, author, text }: ChatMessage): Promise<boolean> {
    if (author.kind === 'human' && isCommand(text)) return true;
    try {
      return await isHidden(channelId, id);
    } catch (error) {
      logger.warn('a message is left out of history, since it may be no part of it', {
        messageId: id,
        error,
      });
      return true;
    }
  }

  async function isShown(message: ChatMessage): Promise<boolean> {
    if (message.text === '' && message.attachments.length === 0) return false;
    return !(await isHiddenMessage(message));
  }

  return {
    async recent(channelId, limit) {
      const channel = channelOf(channelId);
      try {
        await channel.warm(() => fetchNewest(channelId, coldLimit));
      } catch (error) {
        logger.warn('history could not be fetched', { channelId, error });
      }
      const known = channel.messages();
      const shown = await Promise.all(known.map(isShown));
      return limit > 0 ? known.filter((_, index) => shown[index]).slice(-limit) : [];
    },
    seen(message) {
      if (!removals.has(message.id)) channelOf(message.channelId).add(message);
    },
    edited(channelId, messageId, text) {
      channels.get(channelId)?.edit(messageId, text);
      threadFrom(messageId)?.edit(messageId, text);
    },
    removed(channelId, messageIds) {
      for (const id of messageIds) removals.set(id, true);
      channels.get(channelId)?.remove(messageIds);
      for (const id of messageIds) threadFrom(id)?.remove([id]);
    },
    messageOf: (channelId, messageId) => channels.peek(channelId)?.messageOf(messageId),
    isHidden: isHiddenMessage,
    textOf: (channelId, messageId) => channels.peek(channelId)?.messageOf(messageId)?.text,
    forgetAll: () => channels.clear(),
  };
}
