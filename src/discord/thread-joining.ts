import type { Channel } from 'discord.js';

import type { Logger } from '../core/logger.ts';

/**
 * Lets the bot join threads: what is said there reaches it from then on also where it is not a manager, and people see it among the members.
 * Only where it may and is not yet; never rejects.
 */
export function createThreadJoining(logger: Logger): (channel: Channel | undefined) => Promise<void> {
  const joining = new Set<string>();

  return async (channel) => {
    if (channel?.isThread() !== true || !channel.joinable || joining.has(channel.id)) return;
    joining.add(channel.id);
    try {
      await channel.join();
    } catch (error) {
      logger.warn('a thread could not be joined', { channelId: channel.id, error });
    } finally {
      joining.delete(channel.id);
    }
  };
}
