import { RESTJSONErrorCodes } from 'discord.js';

import type { DirectMessagePort } from '../../core/chat.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import { hasErrorCode, sentOnce, type DiscordApi } from '../discord-api.ts';
import { isGone } from './refusals.ts';
import { splitReply } from './split-reply.ts';

const closedCodes = [
  RESTJSONErrorCodes.CannotSendMessagesToThisUser,
  RESTJSONErrorCodes.CannotSendMessagesToThisUserDueToHavingNoMutualGuilds,
];

/** Discord deletes a few a second, and an interaction is answered within 15 minutes. */
const mostDeleted = 1000;

export function createDirectMessages(
  api: Pick<DiscordApi, 'openDm' | 'postMessage' | 'messagesAfter' | 'deleteMessage'>,
  botId: () => string | undefined,
): DirectMessagePort {
  return {
    async send(userId, messages, nonceBase, beforeSeen) {
      const posts = messages.flatMap(({ text, files = [] }) => {
        const chunks = splitReply(text);
        return chunks.map((content, index) => ({ content, files: index === chunks.length - 1 ? files : [] }));
      });
      try {
        const channelId = await api.openDm(userId);
        for (const [index, { content, files }] of posts.entries()) {
          const body = { content, ...sentOnce(`${nonceBase}-d${index}`) };
          const raw = files.map(({ name, bytes }) => ({ name, data: Buffer.from(bytes) }));
          const { id } = await api.postMessage(channelId, body, raw);
          await beforeSeen(channelId, id);
        }
        return 'sent';
      } catch (error) {
        if (hasErrorCode(error, ...closedCodes)) return 'closed';
        throw error;
      }
    },
    async deleteOwn(channelId, before) {
      let deleted = 0;
      for (let last = '0'; ;) {
        const found = await api.messagesAfter(channelId, last);
        const older = found.filter(({ id }) => compareSnowflakes(id, before) < 0);
        for (const { id, author } of older) {
          if (author.id !== botId()) continue;
          if (deleted >= mostDeleted) return { deleted, isAll: false };
          if (await isDeletedNow(channelId, id)) deleted += 1;
        }
        last = found.at(-1)?.id ?? last;
        if (found.length === 0 || older.length < found.length) return { deleted, isAll: true };
      }
    },
  };

  async function isDeletedNow(channelId: string, messageId: string): Promise<boolean> {
    try {
      await api.deleteMessage(channelId, messageId);
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      throw error;
    }
  }
}
