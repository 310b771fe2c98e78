import type { DurableItem } from './durable-document.ts';

/** What a deprecation did: all items as they are now, and those that it took out of use. */
export interface Deprecation {
  readonly items: readonly DurableItem[];
  readonly deprecated: readonly DurableItem[];
}

/** Takes the chosen active items out of use; they stay as history. Without a match `items` is the same array. */
export function deprecateItems(
  items: readonly DurableItem[],
  isChosen: (item: DurableItem) => boolean,
  now: Date,
): Deprecation {
  const deprecated: DurableItem[] = [];
  const changed = items.map((item) => {
    if (item.status !== 'active' || !isChosen(item)) return item;
    const past: DurableItem = { ...item, status: 'deprecated', updatedAt: now.toISOString() };
    deprecated.push(past);
    return past;
  });
  return { items: deprecated.length === 0 ? items : changed, deprecated };
}
