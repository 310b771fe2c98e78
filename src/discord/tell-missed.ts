import type { Channel, Client } from 'discord.js';

import type { RememberedMessage } from '../core/chat.ts';
import type { Logger } from '../core/logger.ts';
import { missedChanges, type FetchedMessages } from './missed-changes.ts';
import { memberMay } from './permissions.ts';
import type { Retractions } from './retractions.ts';

export interface TellMissedOptions {
  readonly client: Client;
  readonly retractions: Pick<Retractions, 'missed'>;
  readonly logger: Logger;
}

/** Tells what became of remembered messages of a channel in a gap [G5]; resolves when memory has followed. */
export async function tellMissed(
  channelId: string,
  remembered: readonly RememberedMessage[],
  fetched: FetchedMessages,
  { client, retractions, logger }: TellMissedOptions,
): Promise<void> {
  const channel = client.channels.cache.get(channelId);
  if (channel === undefined || !isReadable(channel)) return;
  const changes = missedChanges(remembered, fetched);
  if (changes.deleted.length > 0)
    logger.info('messages were deleted in a gap', { channelId, count: changes.deleted.length });
  await retractions.missed(channelId, changes);
}

/** To a bot that may not read the history of a channel Discord shows an empty one, so it must be certain. */
function isReadable(channel: Channel): boolean {
  if (channel.isDMBased()) return true;
  const { me } = channel.guild.members;
  return me !== null && memberMay('read', channel, me) === true;
}
