import type { ReplyPort } from '../../core/chat.ts';
import type { Logger } from '../../core/logger.ts';
import type { DiscordApi } from '../discord-api.ts';
import { growReply, type RepliesOptions } from './growing-reply.ts';

/**
 * How replies reach Discord [G3]: in chunks, in order, pinging nobody, the first one as a reply to the message that `nonceBase` names; at once or
 * growing. `send` and `finish` reject with `ReplyError`.
 */
export function createReplies(options: RepliesOptions): ReplyPort {
  return {
    typing: (channelId) => keepTyping(options.api, channelId, options.logger),
    async find(channelId, messageId) {
      const found = await options.api.messagesAfter(channelId, String(BigInt(messageId) - 1n));
      const own = found.filter(({ author }) => author.id === options.botId());
      return {
        isAsked: found.some(({ id }) => id === messageId),
        ids: own.flatMap(({ id, message_reference: reference }) =>
          reference?.message_id === messageId ? [id] : [],
        ),
      };
    },
    begin: (start) => growReply(options, start),
    async send(channelId, text, nonceBase, beforeSeen) {
      const seen = new Set<string>();
      const reply = growReply(options, {
        channelId,
        nonceBase,
        mayShow: () => Promise.resolve(true),
        async onMessages(ids) {
          for (const id of ids) {
            if (!seen.has(id)) await beforeSeen?.(id);
            seen.add(id);
          }
        },
        onGone: () => {},
      });
      const finished = await reply.finish(text);
      return finished.kind === 'sent' ? finished.ids : [...seen];
    },
  };
}

/** Discord shows "is typing…" for 10 seconds; milliseconds. */
const repeatEveryMs = 8000;

/** Shows "is typing…" until the returned function is called. Never throws: a failure is logged, and not tried again. */
function keepTyping(api: Pick<DiscordApi, 'showTyping'>, channelId: string, logger: Logger): () => void {
  const show = () => {
    api.showTyping(channelId).catch((error: unknown) => {
      clearInterval(timer);
      logger.warn('typing could not be shown', { channelId, error });
    });
  };
  const timer = setInterval(show, repeatEveryMs);
  show();
  return () => clearInterval(timer);
}
