import type { Channel, GuildTextBasedChannel } from 'discord.js';

import type { ChannelWish, ReadChannel } from '../core/channel-talk.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import type { AccessSettings } from './access.ts';
import { channelsCalled, permit, succeeds } from './actions/permit.ts';
import type { ChannelMessages } from './channel-messages.ts';
import type { History } from './history.ts';
import { chatMessageOf, isSpoken } from './normalise.ts';
import { hasAgesFor, placeOf, readersCanRead, type Places } from './place.ts';

const maxCandidates = 10;
const mostMessages = 500;

/** The asker and all who read the answer must be able to read the channel, checked before and after [B4]. */
export function createReadChannel(options: {
  readonly places: Places;
  readonly messages: Pick<ChannelMessages, 'back'>;
  readonly history: Pick<History, 'shownOf'>;
  readonly settings: Pick<AccessSettings, 'channelIds'>;
  readonly botId: () => string | undefined;
}): ReadChannel {
  const { places, messages, history, settings, botId } = options;

  async function mayRead(
    channel: GuildTextBasedChannel,
    here: Channel,
    { userId, place, isForAskerOnly }: ChannelWish,
  ): Promise<boolean> {
    // Other readers are known only from the caches.
    if (!isForAskerOnly && (here.isDMBased() || !readersCanRead(here, channel))) return false;
    const asker = { speaker: { id: userId, name: '', isOwner: false }, place };
    return succeeds(permit('read', channel, asker, settings));
  }

  return async (wish) => {
    const here = await places.find(wish.place.channelId);
    if (here === undefined) return { kind: 'none' };
    const named = channelsCalled(wish.channel ?? here.id, here).slice(0, maxCandidates);
    const readable: GuildTextBasedChannel[] = [];
    for (const channel of named) if (await mayRead(channel, here, wish)) readable.push(channel);
    const [channel, ...others] = readable;
    if (channel === undefined) return { kind: 'none' };
    if (others.length > 0) return { kind: 'several' };
    if (!hasAgesFor(here, channel)) return { kind: 'age-restricted' };

    const { userId, since, askedBy } = wish;
    // What they wrote after asking does not count.
    const isEarlier = (id: string): boolean => askedBy.every((asking) => compareSnowflakes(id, asking) < 0);
    const { found, end, isCut } = await messages.back(
      channel.id,
      Math.min(wish.limit, mostMessages),
      ({ id, author, createdTimestamp }) =>
        since === undefined ? author.id === userId && isEarlier(id) : createdTimestamp < since.getTime(),
    );
    const chatMessages = found
      .filter((message) => isSpoken(message) && !askedBy.includes(message.id))
      .map((message) => chatMessageOf(message, botId() ?? ''));
    const shown = await history.shownOf(channel.id, chatMessages.toReversed());
    const place = await placeOf(channel, places);
    if (place === undefined || !(await mayRead(channel, here, wish))) return { kind: 'none' };
    if (!hasAgesFor(here, channel)) return { kind: 'age-restricted' };
    const ownLastAt = since === undefined ? end?.createdAt.toISOString() : undefined;
    return { kind: 'read', place, messages: shown, isCut, ownLastAt };
  };
}
