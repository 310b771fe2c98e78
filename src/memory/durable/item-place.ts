import type { Place } from '../../core/place.ts';
import { mayUse } from '../../core/visibility.ts';
import type { DurableItem, ItemSource, ItemSourceType } from './durable-document.ts';

/** What is kept of the place that an item comes from: a DM has no guild and no name, a thread its own name [D1]. */
export function sourceIn(place: Place, type: ItemSourceType, messageId: string): ItemSource {
  return {
    type,
    channelId: place.channelId,
    messageId,
    ...(place.guildId === undefined ? {} : { guildId: place.guildId }),
    ...(place.channelName === undefined || place.audience === 'dm' ? {} : { channelName: place.channelName }),
    ...(place.homeId === place.channelId ? {} : { homeId: place.homeId }),
    ...(place.audience === 'private' ? { audience: 'private' } : {}),
  };
}

/** The item's channel for `here` [V1]. */
export function homeOf(source: ItemSource): string {
  return source.homeId ?? source.channelId;
}

/** Whether one of `ownerId`'s items may be used in a reply to `speakerId` in `place`: the rule [V2], applied to items. */
export function mayUseItem(item: DurableItem, ownerId: string, place: Place, speakerId = ownerId): boolean {
  return mayUse({ ownerId, visibility: item.visibility, homeId: homeOf(item.source) }, place, speakerId);
}
