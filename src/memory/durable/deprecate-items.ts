import type { DurableItem } from './durable-document.ts';

/** What a deprecation did: all items as they are now, and those that it took out of use. */
export interface Deprecation {
  readonly items: readonly DurableItem[];
  readonly deprecated: readonly DurableItem[];
}

/** Whether people still see an item: as what holds, or as what that corrected [D6]. */
export function isSeen(item: DurableItem): boolean {
  return item.status === 'active' || item.supersededBy !== undefined;
}

/**
 * Takes the chosen items out of use, those too that are only seen as what another one corrected; they stay in the document. Without a
 * match `items` is the same array.
 */
export function deprecateItems(
  items: readonly DurableItem[],
  isChosen: (item: DurableItem) => boolean,
  now: Date,
): Deprecation {
  const deprecated: DurableItem[] = [];
  const changed = items.map((item) => {
    if (!isSeen(item) || !isChosen(item)) return item;
    const { supersededBy: _, ...kept } = item;
    const past: DurableItem = { ...kept, status: 'deprecated', updatedAt: now.toISOString() };
    deprecated.push(past);
    return past;
  });
  return { items: deprecated.length === 0 ? items : changed, deprecated };
}
