import { deprecateItems } from './deprecate-items.ts';
import type { Deprecation } from './deprecate-items.ts';
import type { DurableItem } from './durable-document.ts';
import { byAge } from './item-order.ts';

/**
 * Brings the active items down to `maxItems` [D3]: the oldest unpinned extracted ones go first, then the oldest unpinned manual
 * ones, never a pinned one and never the one just added. `undefined` when that is not enough.
 */
export function evictItems(
  items: readonly DurableItem[],
  addedId: string,
  maxItems: number,
  now: Date,
): Deprecation | undefined {
  const active = items.filter((item) => item.status === 'active');
  const surplus = active.length - maxItems;
  if (surplus <= 0) return { items, deprecated: [] };
  const candidates = active
    .filter((item) => !item.pinned && item.id !== addedId)
    .toSorted((a, b) => Number(isManual(a)) - Number(isManual(b)) || byAge(a, b));
  if (candidates.length < surplus) return undefined;
  const leaving = new Set(candidates.slice(0, surplus).map((item) => item.id));
  return deprecateItems(items, (item) => leaving.has(item.id), now);
}

function isManual(item: DurableItem): boolean {
  return item.source.type === 'manual';
}
