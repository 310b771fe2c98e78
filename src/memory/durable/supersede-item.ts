import type { DurableItem } from './durable-document.ts';

/** Replaces an item by its correction [D6]: the old one becomes history that names the new one, which is pinned if the old one was. */
export function supersedeItem(
  items: readonly DurableItem[],
  oldId: string,
  newId: string,
  now: Date,
): { readonly items: readonly DurableItem[]; readonly superseded: DurableItem | undefined } {
  const old = items.find((item) => item.id === oldId && item.status === 'active');
  if (old === undefined || oldId === newId) return { items, superseded: undefined };
  const superseded: DurableItem = {
    ...old,
    status: 'deprecated',
    supersededBy: newId,
    updatedAt: now.toISOString(),
  };
  return {
    items: items.map((item) => {
      if (item === old) return superseded;
      return item.id === newId && old.pinned ? { ...item, pinned: true } : item;
    }),
    superseded,
  };
}
