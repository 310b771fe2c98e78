import type { Message } from 'discord.js';

import { compareSnowflakes } from '../core/snowflake.ts';
import { botMay } from './permissions.ts';
import type { FindChannel } from './place-of.ts';

/** Discord gives at most this many messages a request. */
export const pageSize = 100;

/** Reads a channel's messages from Discord. All reject where Discord does; where the bot may not read, there are none. */
export interface ChannelMessages {
  /** The newest messages, at most 100, in any order. */
  newest(channelId: string, limit: number): Promise<readonly Message[]>;
  /** `undefined` where the bot may not read it. */
  one(channelId: string, messageId: string): Promise<Message | undefined>;
  /** All messages after an id, oldest first, at most `pages` × 100. */
  after(channelId: string, messageId: string, pages: number): Promise<readonly Message[]>;
}

export function createChannelMessages(findChannel: FindChannel): ChannelMessages {
  async function readable(channelId: string) {
    const channel = await findChannel(channelId);
    if (channel === undefined || !channel.isTextBased() || !('messages' in channel)) return undefined;
    return botMay('read', channel) ? channel.messages : undefined;
  }

  async function page(
    channelId: string,
    query: { readonly after?: string; readonly limit: number },
  ): Promise<Message[]> {
    const found = await (await readable(channelId))?.fetch({ ...query, cache: false });
    return found === undefined ? [] : [...found.values()];
  }

  return {
    newest: (channelId, limit) => page(channelId, { limit: Math.min(limit, pageSize) }),
    one: async (channelId, messageId) =>
      (await readable(channelId))?.fetch({ message: messageId, cache: false }),
    async after(channelId, messageId, pages) {
      const all: Message[] = [];
      for (let count = 0; count < pages; count += 1) {
        const found = await page(channelId, { after: all.at(-1)?.id ?? messageId, limit: pageSize });
        all.push(...found.toSorted((a, b) => compareSnowflakes(a.id, b.id)));
        if (found.length < pageSize) break;
      }
      return all;
    },
  };
}
