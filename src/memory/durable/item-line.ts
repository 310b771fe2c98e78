import { localDate } from '../../core/time.ts';
import type { Place } from '../../core/place.ts';
import { dataLine } from '../../core/section.ts';
import { mayUse } from '../../core/visibility.ts';
import type { DurableItem } from './durable-document.ts';
import { undated } from './durable-document.ts';
import { homeOf } from './item-place.ts';
import type { DateOf } from './local-dates.ts';

/**
 * The line of an item as the model and its owner see it [D5]: `- [preference] Prefers Rust (src: manual, #dev, updated 2026-01-15)`.
 * The name of a private channel is left out where an item of that channel could not be used by itself.
 */
export function itemLine(item: DurableItem, place: Place, timeZone: string): string {
  return datedItemLine(item, place, (date) => localDate(date, timeZone));
}

/** As `itemLine`, for who already has a way to tell local days. */
export function datedItemLine(item: DurableItem, place: Place, dateOf: DateOf): string {
  const origin = [
    `src: ${item.source.type}`,
    ...channelIn(item, place),
    ...(Date.parse(item.updatedAt) === Date.parse(undated)
      ? []
      : [`updated ${dateOf(new Date(item.updatedAt))}`]),
  ];
  return `- [${item.kind}] ${dataLine(item.text)} (${origin.join(', ')})`;
}

function channelIn(item: DurableItem, place: Place): readonly string[] {
  const { channelName, audience } = item.source;
  if (channelName === undefined) return [];
  const isSecret =
    audience === 'private' &&
    !mayUse({ ownerId: '', visibility: 'here', homeId: homeOf(item.source) }, place, '');
  return isSecret ? [] : [`#${dataLine(channelName)}`];
}
