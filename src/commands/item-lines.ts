import { localDate } from '../core/time.ts';
import type { Place } from '../core/place.ts';
import { dataLine } from '../core/section.ts';
import { flatten } from '../core/text.ts';
import { itemLine, mayUseItem, type DurableItem } from '../memory/durable/document.ts';
import { withoutFences } from './quoted.ts';

const shownFormerItems = 3;

/** An item as its owner sees it: the line of the prompt [D5], its id, and where it may be used. */
export function listedItem(item: DurableItem, place: Place, timeZone: string): string {
  const line = withoutFences(itemLine(item, place, timeZone));
  return `${line} · ${idAndVisibility(item)}${item.pinned ? ' · pinned' : ''}`;
}

/** What an item corrected, as far as an answer in `place` may name it, each with the day until which it held [D6]. */
export function formerLines(
  former: readonly DurableItem[],
  ownerId: string,
  place: Place,
  timeZone: string,
): readonly string[] {
  return nameable(former, ownerId, place)
    .named.slice(0, shownFormerItems)
    .map(
      (item) =>
        `  before ${localDate(new Date(item.updatedAt), timeZone)}: ${withoutFences(dataLine(item.text))}`,
    );
}

export function idAndVisibility(item: DurableItem): string {
  return `id ${flatten(item.id)} · ${item.visibility}`;
}

/** The owner's items that an answer in `place` may name, and how many it may only count [V2]. */
export function nameable(
  items: readonly DurableItem[],
  ownerId: string,
  place: Place,
): { readonly named: readonly DurableItem[]; readonly hidden: number } {
  const named = items.filter((item) => mayUseItem(item, ownerId, place));
  return { named, hidden: items.length - named.length };
}

/** `1 item`, `2 items`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
