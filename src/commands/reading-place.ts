import type { CommandRequest } from '../core/chat.ts';
import type { Place } from '../core/place.ts';

/**
 * The place as those who can read the answer make it: where only the asker can, all of the asker's memory may be shown, as in
 * the DM [K3]; otherwise what may be used in the place itself [V2].
 */
export function readingPlace({ ephemeral, place }: Pick<CommandRequest, 'ephemeral' | 'place'>): Place {
  return ephemeral ? { ...place, audience: 'dm' } : place;
}
