import { InteractionContextType, type BaseInteraction } from 'discord.js';

import type { CommandContext } from '../../core/commands.ts';
import type { Place } from '../../core/place.ts';
import { hasAccess, isOwner, worksIn, type AccessSettings } from '../access.ts';
import { userName } from '../normalise.ts';
import { placeOf, type FindChannel } from '../place.ts';

/** Whether an interaction is taken [G1], and from whom and where; `line` is what the person is told otherwise. */
export type Admission =
  | { readonly kind: 'admitted'; readonly asker: Pick<CommandContext, 'speaker' | 'place'> }
  | { readonly kind: 'refused'; readonly line: string };

/** Of an interaction what is looked at here. */
export type IncomingInteraction = Pick<
  BaseInteraction,
  'context' | 'channelId' | 'user' | 'inCachedGuild' | 'member'
>;

const noAccess = 'I only answer people whom my owner has given access.';
const otherChannel = 'I do not work in this channel. Ask me in a direct message instead.';

export interface AdmissionOptions {
  readonly settings: AccessSettings;
  readonly findChannel: FindChannel;
}

/** The access rules of messages, for interactions. Never rejects: where nothing can be known, the person is refused. */
export async function admit(
  interaction: IncomingInteraction,
  { settings, findChannel }: AdmissionOptions,
): Promise<Admission> {
  const { user } = interaction;
  if (!hasAccess(settings, user.id)) return { kind: 'refused', line: noAccess };
  const place = await placeFor(interaction, findChannel).catch(() => undefined);
  if (place === undefined || !worksIn(settings, { ...place, isDm: place.audience === 'dm' }))
    return { kind: 'refused', line: otherChannel };
  const name = interaction.inCachedGuild() ? interaction.member.displayName : userName(user);
  return {
    kind: 'admitted',
    asker: { speaker: { id: user.id, name, isOwner: isOwner(settings, user.id) }, place },
  };
}

async function placeFor(
  { context, channelId }: IncomingInteraction,
  findChannel: FindChannel,
): Promise<Place | undefined> {
  // A conversation of other people, into which the asker brought the bot along.
  if (channelId === null || context === InteractionContextType.PrivateChannel) return undefined;
  const channel = await findChannel(channelId);
  return channel === undefined ? undefined : placeOf(channel, findChannel);
}
