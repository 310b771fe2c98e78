import type { PresentPlace } from '../core/chat.ts';
import { placeOf, type FindChannel } from './place-of.ts';

/**
 * Looks again whether everybody can view a channel. What was public stays so, since a narrower audience would admit more of memory; what
 * cannot be known stays as it was.
 */
export function createPresentPlace(findChannel: FindChannel): PresentPlace {
  return async (place) => {
    if (place.audience !== 'private') return place;
    const channel = await findChannel(place.channelId);
    const present = channel === undefined ? undefined : await placeOf(channel, findChannel);
    return present?.audience === 'public' ? present : place;
  };
}
