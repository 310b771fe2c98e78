import { setTimeout as delay } from 'node:timers/promises';

import type { APIMessage, RESTPostAPIChannelMessageJSONBody } from 'discord.js';

import type { ReplyPort } from '../../core/chat.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/logger.ts';
import { isSnowflake, snowflakeTime } from '../../core/snowflake.ts';
import type { DiscordApi } from '../discord-api.ts';
import { isRefusal, isReplyForbidden, ReplyError } from './reply-error.ts';
import { splitReply } from './split-reply.ts';
import { keepTyping } from './typing.ts';

/** Discord compares nonces for "a few minutes"; a reply to an older message than this is looked for first. Milliseconds. */
const nonceHoldsMs = 2 * 60_000;

export interface RepliesOptions {
  readonly api: Pick<DiscordApi, 'postMessage' | 'messagesAfter' | 'showTyping'>;
  /** Known once the bot is logged in. */
  readonly botId: () => string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with each message that is there, be it from an earlier try; as a rule before the gateway tells of it. */
  readonly onSent: (message: APIMessage) => void;
  /** Pauses before a chunk is sent again that met a broken connection or server; milliseconds. */
  readonly retryDelaysMs?: readonly number[];
}

/**
 * How replies reach Discord [G3]: in chunks, in order, pinging nobody, the first one as a reply to the message that `nonceBase` names.
 * Every chunk carries a nonce made from it, so that sending again, after a broken connection or a restart, puts nothing there twice.
 * `send` rejects with `ReplyError`.
 */
export function createReplies(options: RepliesOptions): ReplyPort {
  const { api, botId, clock, logger, onSent, retryDelaysMs = [500, 2000, 5000] } = options;

  return {
    typing: (channelId) => keepTyping(api, channelId, logger),
    async send(channelId, text, nonceBase, beforeSeen) {
      const ids: string[] = [];
      try {
        const chunks = splitReply(text);
        const earlier = isOld(nonceBase) ? await sentBefore(channelId, nonceBase, chunks) : [];
        for (const [index, chunk] of chunks.entries()) {
          const message = earlier[index] ?? (await sendChunk(channelId, bodyOf(chunk, nonceBase, index)));
          ids.push(message.id);
          await beforeSeen?.(message.id);
          onSent(message);
        }
        return ids;
      } catch (error) {
        const failure = new ReplyError(channelId, ids, error);
        logger.warn('a reply could not be sent', {
          channelId,
          sent: ids.length,
          isLasting: failure.isLasting,
          error,
        });
        throw failure;
      }
    },
  };

  async function sendChunk(channelId: string, body: RESTPostAPIChannelMessageJSONBody): Promise<APIMessage> {
    for (const pause of [...retryDelaysMs, undefined]) {
      try {
        return await post(channelId, body);
      } catch (error) {
        if (isRefusal(error) || pause === undefined) throw error;
        logger.debug('a chunk is sent again', { channelId, pause, error });
        await delay(pause);
      }
    }
    throw new RangeError('Every try either sends or throws');
  }

  /** Without the permission to read the channel's history a bot may speak, but not reply. */
  async function post(channelId: string, body: RESTPostAPIChannelMessageJSONBody): Promise<APIMessage> {
    try {
      return await api.postMessage(channelId, body);
    } catch (error) {
      if (body.message_reference === undefined || !isReplyForbidden(error)) throw error;
      const { message_reference: _, ...unbound } = body;
      return await api.postMessage(channelId, unbound);
    }
  }

  function isOld(nonceBase: string): boolean {
    return isSnowflake(nonceBase) && clock().getTime() - snowflakeTime(nonceBase).getTime() > nonceHoldsMs;
  }

  /** The messages of those chunks, from the first on, that stand in the channel already as the reply to this message. */
  async function sentBefore(
    channelId: string,
    messageId: string,
    chunks: readonly string[],
  ): Promise<readonly APIMessage[]> {
    try {
      const found = await api.messagesAfter(channelId, messageId);
      const own = found.filter((message) => message.author.id === botId());
      const start = own.findIndex((message) => message.message_reference?.message_id === messageId);
      const reply = start === -1 ? [] : own.slice(start, start + chunks.length);
      const other = reply.findIndex((message, index) => message.content !== chunks[index]?.trim());
      return reply.slice(0, other === -1 ? reply.length : other);
    } catch (error) {
      logger.warn('earlier replies could not be looked for', { channelId, error });
      return [];
    }
  }
}

function bodyOf(chunk: string, nonceBase: string, index: number): RESTPostAPIChannelMessageJSONBody {
  const isReply = index === 0 && isSnowflake(nonceBase);
  return {
    content: chunk,
    allowed_mentions: { parse: [], replied_user: false },
    nonce: `${nonceBase}-${index}`,
    enforce_nonce: true,
    ...(isReply && { message_reference: { message_id: nonceBase, fail_if_not_exists: false } }),
  };
}
