import type { Client, GuildTextBasedChannel, SendableChannels } from 'discord.js';

import type { TurnContext } from '../../core/turn-context.ts';
import type { AccessSettings } from '../access.ts';
import { ActionRefusal } from './action-refusal.ts';
import { channelReference } from './named-channel.ts';
import { noSuchChannel, permit } from './permit.ts';

/** Channels of one name that are looked at more closely. */
const maxCandidates = 5;

/**
 * The channel that a message is to be sent to, by id or name: one of the same server, from a direct message one of a server that both are
 * in. Nothing is asked of Discord about an id that the client does not know.
 * @throws {ActionRefusal} where there is none, or where several could be meant.
 */
export async function sendTarget(
  reference: string,
  here: SendableChannels,
  context: TurnContext,
  settings: Pick<AccessSettings, 'channelIds'>,
): Promise<GuildTextBasedChannel> {
  const wanted = channelReference(reference);
  const isMeant = (channel: GuildTextBasedChannel) =>
    'id' in wanted ? channel.id === wanted.id : channel.name.toLowerCase() === wanted.name;
  const [first, ...others] = textChannels(here.client)
    .filter((channel) => here.isDMBased() || channel.guildId === here.guildId)
    .filter(isMeant);
  if (first === undefined) throw new ActionRefusal(noSuchChannel);
  if (others.length === 0) return first;
  if (others.length >= maxCandidates)
    throw new ActionRefusal('many channels are called that: name it by its id.');
  const usable = [];
  for (const channel of [first, ...others]) if (await isUsable(channel)) usable.push(channel);
  const [only, ...more] = usable;
  if (only === undefined) throw new ActionRefusal(noSuchChannel);
  if (more.length > 0) throw new ActionRefusal('several channels are called that: name one by its id.');
  return only;

  async function isUsable(channel: GuildTextBasedChannel): Promise<boolean> {
    try {
      await permit('send', channel, context, settings);
      return true;
    } catch {
      return false;
    }
  }
}

function textChannels({ channels }: Client): readonly GuildTextBasedChannel[] {
  return [...channels.cache.values()].filter(
    (channel): channel is GuildTextBasedChannel => channel.isTextBased() && !channel.isDMBased(),
  );
}
