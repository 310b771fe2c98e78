import {
  ChannelType,
  PermissionFlagsBits,
  RESTJSONErrorCodes,
  type Channel,
  type GuildBasedChannel,
  type GuildMember,
  type GuildTextBasedChannel,
} from 'discord.js';

import type { ChannelPort } from '../../core/channels.ts';
import { hasMoreReaders, type Place } from '../../core/place.ts';
import { withoutMentionMarks } from '../../core/own-words.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { worksInChannel, type AccessSettings } from '../access.ts';
import { hasErrorCode } from '../refusals.ts';
import { capabilities, memberMay, neededToRead, type Capability } from '../permissions.ts';
import { placeOf, type Places } from '../place.ts';
import { ActionRefusal } from './action.ts';

/** The same whether it exists or not, so that nobody learns of a channel by asking. */
export const noSuchChannel = 'there is no such channel that the person and I can both see.';
const unknownRights = 'I cannot find out right now what the person may do there.';

/** What cannot be known is not allowed. @throws {ActionRefusal} */
export async function permit(
  capability: Capability,
  channel: Channel,
  context: Pick<TurnContext, 'speaker' | 'place'>,
  settings: Pick<AccessSettings, 'channelIds'>,
): Promise<void> {
  if (channel.isDMBased()) {
    const isTheirs = context.place.audience === 'dm' && channel.id === context.place.channelId;
    if (isTheirs && capability !== 'start-thread' && capability !== 'start-private-thread') return;
    throw new ActionRefusal('that is not possible in direct messages.');
  }
  const { me } = channel.guild.members;
  // Where the bot sees nothing, the person is not looked up.
  if (me === null || !has(channel, me, neededToRead(channel))) throw new ActionRefusal(noSuchChannel);
  const speaker = await seeingMember(channel, context.speaker.id);
  if (!worksInChannel(settings, channel)) throw new ActionRefusal('I do not work in that channel.');
  if (memberMay(capability, channel, me) !== true)
    throw new ActionRefusal(`I lack the permission to ${capabilities[capability]} there.`);
  if (memberMay(capability, channel, speaker) !== true)
    throw new ActionRefusal(`the person lacks the permission to ${capabilities[capability]} there.`);
}

/** Of the same server; from a direct message, of all servers. */
export function channelsCalled(reference: string, here: Channel): readonly GuildTextBasedChannel[] {
  const target = channelReference(reference);
  return [...here.client.channels.cache.values()].filter(
    (channel): channel is GuildTextBasedChannel =>
      channel.isTextBased() &&
      !channel.isDMBased() &&
      (here.isDMBased() || channel.guildId === here.guildId) &&
      ('id' in target ? channel.id === target.id : channel.name.toLowerCase() === target.name),
  );
}

/** `#name` or `name`, `<#id>` or an id. */
export function channelReference(reference: string): { readonly id: string } | { readonly name: string } {
  const plain = withoutMentionMarks(reference).trim();
  const id = /^(?:<#)?(?<id>[0-9]{15,21})>?$/u.exec(plain)?.groups?.['id'];
  return id === undefined ? { name: plain.replace(/^#/u, '').trim().toLowerCase() } : { id };
}

function has(channel: GuildBasedChannel, member: GuildMember, permission: bigint): boolean {
  return channel.permissionsFor(member)?.has(permission) ?? false;
}

/** Fetched from Discord. @throws {ActionRefusal} where they do not see the channel. */
async function seeingMember(channel: GuildBasedChannel, userId: string): Promise<GuildMember> {
  const member = await channel.guild.members.fetch({ user: userId, force: true }).catch((cause: unknown) => {
    const isUnknown = hasErrorCode(cause, RESTJSONErrorCodes.UnknownMember, RESTJSONErrorCodes.UnknownUser);
    throw new ActionRefusal(isUnknown ? noSuchChannel : unknownRights, { cause });
  });
  const isSeen =
    has(channel, member, neededToRead(channel)) &&
    (channel.type !== ChannelType.PrivateThread ||
      has(channel, member, PermissionFlagsBits.ManageThreads) ||
      (await succeeds(channel.members.fetch({ member: member.id, force: true }))));
  if (!isSeen) throw new ActionRefusal(noSuchChannel);
  return member;
}

export function createChannelPort(places: Places): ChannelPort {
  return {
    async placeOf(channelId) {
      const channel = await places.find(channelId);
      return channel && placeOf(channel, places);
    },
  };
}

/** Whether a person can read a channel of a server now; what cannot be known counts as no. */
export async function mayRead(places: Places, userId: string, channelId: string): Promise<boolean> {
  const channel = await places.find(channelId);
  return channel !== undefined && !channel.isDMBased() && succeeds(seeingMember(channel, userId));
}

export async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}

/** @throws {ActionRefusal} where that cannot be known. */
export async function currentPlaceOf(channel: Channel, places: Places): Promise<Place> {
  const place = await placeOf(channel, places);
  if (place === undefined) throw new ActionRefusal('I do not know who can read along there.');
  return place;
}

/** Nobody may read here who could not when the model's words were made [V2]. @throws {ActionRefusal} */
export async function requireSameAudience(
  here: Channel,
  context: TurnContext,
  places: Places,
): Promise<void> {
  if (hasMoreReaders(context.place, await currentPlaceOf(here, places)))
    throw new ActionRefusal('this channel has become visible to more people in the meantime.');
}
