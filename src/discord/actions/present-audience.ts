import type { Channel } from 'discord.js';

import { becamePublic, type Place } from '../../core/place.ts';
import type { TurnContext } from '../../core/turn-context.ts';
import { placeOf, type FindChannel } from '../place-of.ts';
import { ActionRefusal } from './action-refusal.ts';

/** Where a channel's messages are said by now. @throws {ActionRefusal} where that cannot be told. */
export async function presentPlaceOf(channel: Channel, findChannel: FindChannel): Promise<Place> {
  const place = await placeOf(channel, findChannel);
  if (place === undefined) throw new ActionRefusal('I do not know who can read along there.');
  return place;
}

/**
 * Makes sure that what is said in the present channel has no more readers than those that the model's words were made for [V2].
 * @throws {ActionRefusal}
 */
export async function requireSameAudience(
  here: Channel,
  context: TurnContext,
  findChannel: FindChannel,
): Promise<void> {
  if (becamePublic(context.place, await presentPlaceOf(here, findChannel)))
    throw new ActionRefusal('this channel became visible to more people meanwhile.');
}
