import {
  sentMaxChars,
  type RefusalReason,
  type ReplyPort,
  type Typing,
  type DirectMessagePort,
} from '../../core/reply.ts';
import type { Logger } from '../../core/logger.ts';
import { answerRows } from '../buttons.ts';
import { noPings, sentOnce, type DiscordApi } from '../discord-api.ts';
import { splitFooter, withFooter, splitReply } from './split-reply.ts';
import { growReply, type RepliesOptions } from './growing-reply.ts';
import { isDmClosed, isGone, refusalOf, sendUntilTaken } from '../refusals.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';

/** In chunks, in order, pinging nobody; the first replies to the message that `nonceBase` names [G3]. */
export function createReplies(options: RepliesOptions): ReplyPort {
  return {
    typing: (channelId) => keepTyping(options.api, channelId, options.logger),
    async find(channelId, messageId) {
      try {
        const found = await options.api.messagesAfter(channelId, String(BigInt(messageId) - 1n));
        const own = found.filter(({ author }) => author.id === options.botId());
        return {
          questionExists: found.some(({ id }) => id === messageId),
          ids: own.flatMap(({ id, message_reference: reference }) =>
            reference?.message_id === messageId ? [id] : [],
          ),
        };
      } catch (error) {
        if (refusalOf(error) === undefined) throw error;
        return { questionExists: true, ids: [], isRefused: true };
      }
    },
    tellRefused: (question, reason) => tellRefused(options, question, reason),
    begin: (start) => growReply(options, start, (name) => options.emojiIn?.(start.channelId, name)),
    amend: (...change) => amend(options, ...change),
    async send(channelId, text, nonceBase, beforeSeen, buttons, mayShow = () => Promise.resolve(true)) {
      const seen = new Set<string>();
      const reply = growReply(options, {
        channelId,
        nonceBase,
        mayShow,
        async onMessages(ids) {
          for (const id of ids) {
            if (!seen.has(id)) await beforeSeen?.(id);
            seen.add(id);
          }
        },
        onGone: () => {},
      });
      return reply.finish(text, buttons && { ...buttons, lines: [] });
    },
  };
}

/** Discord shows "is typing…" for 10 seconds. */
const repeatEveryMs = 8000;
const shownAfterMs = 20;

function keepTyping(api: Pick<DiscordApi, 'showTyping'>, channelId: string, logger: Logger): Typing {
  let isOver = false;
  let timer = setTimeout(show, shownAfterMs);
  function show(): void {
    clearTimeout(timer);
    if (isOver) return;
    timer = setTimeout(show, repeatEveryMs);
    api.showTyping(channelId).catch((error: unknown) => {
      end();
      logger.warn('typing could not be shown', { channelId, error });
    });
  }
  function end(): void {
    isOver = true;
    clearTimeout(timer);
  }
  return { show, end };
}

async function amend(
  { api, logger, retryDelaysMs }: Pick<RepliesOptions, 'api' | 'logger' | 'retryDelaysMs'>,
  channelId: string,
  messageId: string,
  change: Parameters<ReplyPort['amend']>[2],
): Promise<boolean> {
  async function once(): Promise<boolean> {
    const message = await api.message(channelId, messageId);
    const { text, lines } = splitFooter(message.content);
    const changed = await change(lines);
    if (changed === undefined) return true;
    const content = withFooter(text, changed.lines);
    if (content.length > sentMaxChars) return false;
    const components = changed.buttons && answerRows(changed.buttons.personId, changed.buttons);
    await api.editMessage(channelId, messageId, { content, allowed_mentions: noPings, components });
    return true;
  }
  try {
    return await sendUntilTaken(once, retryDelaysMs);
  } catch (error) {
    logger.info('an answer cannot be edited', { channelId, messageId, error });
    return false;
  }
}

const refusedEmoji = '⚠️';

async function tellRefused(
  { api, logger }: Pick<RepliesOptions, 'api' | 'logger'>,
  { channelId, messageId, userId, isBot, isDm }: Parameters<ReplyPort['tellRefused']>[0],
  reason: RefusalReason,
): Promise<void> {
  const ids = { channelId, messageId, userId, reason };
  try {
    await api.react(channelId, messageId, refusedEmoji);
    logger.warn('an answer was refused by Discord, as a reaction says', ids);
    return;
  } catch (error) {
    logger.debug('a refusal could not be shown by a reaction', { ...ids, error });
  }
  try {
    // Bots have no DMs with each other.
    if (isDm || isBot === true) throw new Error('There is no other way to tell');
    const why = reason === 'content' ? 'a filter or rule there refused it' : 'I may not write there';
    const content = `⚠️ I could not send my answer in <#${channelId}>: ${why}. Ask me here, or ask again there later.`;
    await api.postMessage(await api.openDm(userId), {
      content,
      ...sentOnce(`${messageId}-r`),
    });
    logger.warn('an answer was refused by Discord, as a DM says', ids);
  } catch (error) {
    logger.warn('an answer was refused by Discord, and nobody could be told', { ...ids, error });
  }
}

/** Discord deletes a few a second, and an interaction is answered within 15 minutes. */
const mostDeleted = 1000;

export function createDirectMessages(
  api: Pick<DiscordApi, 'openDm' | 'postMessage' | 'messagesAfter' | 'deleteMessage'>,
  botId: () => string | undefined,
): DirectMessagePort {
  return {
    async send(userId, messages, nonceBase, beforeSeen) {
      const posts = messages.flatMap(({ text, files = [], buttons }) => {
        const chunks = splitReply(text);
        const components = answerRows(userId, { buttons });
        return chunks.map((content, index) =>
          index === chunks.length - 1
            ? { content, files, components }
            : { content, files: [], components: [] },
        );
      });
      try {
        const channelId = await sendUntilTaken(() => api.openDm(userId));
        for (const [index, { content, files, components }] of posts.entries()) {
          const body = { content, components, ...sentOnce(`${nonceBase}-d${index}`) };
          const raw = files.map(({ name, bytes }) => ({ name, data: Buffer.from(bytes) }));
          const { id } = await sendUntilTaken(() => api.postMessage(channelId, body, raw));
          await beforeSeen(channelId, id);
        }
        return 'sent';
      } catch (error) {
        if (isDmClosed(error)) return 'closed';
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
