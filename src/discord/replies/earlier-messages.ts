import type { APIMessage } from 'discord.js';

import type { Clock } from '../../core/time.ts';
import type { Logger } from '../../core/logger.ts';
import { isSnowflake, snowflakeTime } from '../../core/snowflake.ts';
import type { DiscordApi } from '../discord-api.ts';

/** Discord compares nonces for "a few minutes"; a reply to an older message than this is looked for first. Milliseconds. */
const nonceHoldsMs = 2 * 60_000;

export interface EarlierMessagesOptions {
  readonly api: Pick<DiscordApi, 'messagesAfter'>;
  /** Known once the bot is logged in. */
  readonly botId: () => string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The bot's own messages from its reply to a message on, oldest first: those of the reply, and then perhaps others. Empty where the nonce
 * still protects from saying it twice, and where nothing can be found out. Never rejects.
 */
export async function earlierMessages(
  { api, botId, clock, logger }: EarlierMessagesOptions,
  channelId: string,
  nonceBase: string,
): Promise<readonly APIMessage[]> {
  const isOld =
    isSnowflake(nonceBase) && clock().getTime() - snowflakeTime(nonceBase).getTime() > nonceHoldsMs;
  if (!isOld) return [];
  try {
    const found = await api.messagesAfter(channelId, nonceBase);
    const own = found.filter((message) => message.author.id === botId());
    const start = own.findIndex((message) => message.message_reference?.message_id === nonceBase);
    return start === -1 ? [] : own.slice(start);
  } catch (error) {
    logger.warn('earlier replies could not be looked for', { channelId, error });
    return [];
  }
}
