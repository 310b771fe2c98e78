import type { Place } from '../../core/place.ts';
import type { Visibility } from '../../core/visibility.ts';
import type { DurableDocument, DurableItem } from './durable-document.ts';
import { mayUseItem } from './item-place.ts';

/** Shares or hides an active item that may be used in `place`; `undefined` when there is no such item. Its age stays. */
export function setVisibility(
  document: DurableDocument,
  ownerId: string,
  id: string,
  visibility: Visibility,
  place: Place,
): { readonly document: DurableDocument; readonly result: DurableItem | undefined } {
  const wanted = id.trim().toLowerCase();
  const item = document.items.find(
    (each) =>
      each.status === 'active' && each.id.toLowerCase() === wanted && mayUseItem(each, ownerId, place),
  );
  if (item === undefined || item.visibility === visibility) return { document, result: item };
  const changed: DurableItem = { ...item, visibility };
  return {
    document: { ...document, items: document.items.map((each) => (each === item ? changed : each)) },
    result: changed,
  };
}
