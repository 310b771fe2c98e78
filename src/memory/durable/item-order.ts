import type { DurableItem } from './durable-document.ts';

/** The active items in the order of injection: pinned first, then the newest; of the same moment the one added last [D4]. */
export function activeInOrder(items: readonly DurableItem[]): readonly DurableItem[] {
  return items
    .filter((item) => item.status === 'active')
    .toReversed()
    .toSorted((a, b) => Number(b.pinned) - Number(a.pinned) || byAge(b, a));
}

/** Orders by last update, older first. */
export function byAge(a: DurableItem, b: DurableItem): number {
  return Date.parse(a.updatedAt) - Date.parse(b.updatedAt);
}
