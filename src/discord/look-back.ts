import { compareSnowflakes } from '../core/snowflake.ts';
import type { CatchUpOptions } from './catch-up.ts';
import { pageSize, type ChannelMessages } from './channel-messages.ts';
import { tellMissed, type TellMissedOptions } from './tell-missed.ts';

export interface LookBackOptions
  extends TellMissedOptions, Pick<CatchUpOptions, 'knownChannels' | 'remembered'> {
  readonly messages: Pick<ChannelMessages, 'newest'>;
  /** Asked before each channel: there may be many, and the bot may have been stopped. */
  readonly isStopped: () => boolean;
}

/**
 * Compares what is remembered of each channel with its newest hundred messages, one channel after the other: for what was edited or
 * deleted in a gap, though it was said long before [G5]. What is older than those is not looked at. Never throws.
 */
export async function lookBack(options: LookBackOptions): Promise<void> {
  const { logger } = options;
  try {
    for (const channelId of await options.knownChannels()) {
      if (options.isStopped()) return;
      await lookBackOn(channelId, options);
    }
  } catch (error) {
    logger.warn('what was edited or deleted in a gap is not known', { error });
  }
}

async function lookBackOn(channelId: string, options: LookBackOptions): Promise<void> {
  try {
    const found = await options.messages.newest(channelId, pageSize);
    const messages = found.toSorted((a, b) => compareSnowflakes(a.id, b.id));
    const oldest = messages[0]?.id;
    if (oldest === undefined) return;
    // Where these are all, whatever is remembered from before them is gone.
    const remembered = await options.remembered(channelId, messages.length < pageSize ? '0' : oldest);
    // What was said since the fetch is not in it.
    await tellMissed(channelId, remembered, { messages, isWhole: false }, options);
  } catch (error) {
    options.logger.debug('a channel could not be compared with what is remembered of it', {
      channelId,
      error,
    });
  }
}
