import type { DurableItem } from './durable-document.ts';
import { byAge } from './item-order.ts';

/** By the id of each active item what it corrected, directly or by way of others, newest first [D6]. */
export function formerItems(items: readonly DurableItem[]): ReadonlyMap<string, readonly DurableItem[]> {
  const byId = new Map(items.map((item) => [item.id, item]));
  const former = new Map<string, DurableItem[]>();
  for (const item of items.toReversed().toSorted((a, b) => byAge(b, a))) {
    const present = correctionOf(item, byId);
    if (present !== undefined) former.set(present.id, [...(former.get(present.id) ?? []), item]);
  }
  return former;
}

/** The active item at the end of an item's corrections; a document edited by hand may lead nowhere, or in a circle. */
function correctionOf(item: DurableItem, byId: ReadonlyMap<string, DurableItem>): DurableItem | undefined {
  const seen = new Set<DurableItem>();
  let present: DurableItem | undefined = item;
  while (present?.status === 'deprecated' && !seen.has(present)) {
    seen.add(present);
    present = present.supersededBy === undefined ? undefined : byId.get(present.supersededBy);
  }
  return present?.status === 'active' && present !== item ? present : undefined;
}
