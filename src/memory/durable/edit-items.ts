import { isDeepStrictEqual } from 'node:util';

import type { Place } from '../../core/place.ts';
import { explicitVisibilityOf, isSameReach, narrower, pickReach } from '../../core/visibility.ts';
import {
  freeId,
  itemsWithWording,
  mayUseItem,
  reachOfItem,
  sourceIn,
  textProblem,
  withItems,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
  type Utterance,
  type TextProblem,
} from './document.ts';
import { supersede } from './items.ts';

/** The active item with that id, if it may be used in `place`. */
export function openItem(
  items: readonly DurableItem[],
  ownerId: string,
  id: string,
  place: Place,
): DurableItem | undefined {
  const prefix = id.trim().toLowerCase();
  return items.find(
    (item) =>
      item.status === 'active' && item.id.toLowerCase() === prefix && mayUseItem(item, ownerId, place),
  );
}

/** Changes an active item that may be used in `place`; the result is without it when there is no such one. */
export function changedItem(
  document: DurableDocument,
  ownerId: string,
  id: string,
  place: Place,
  change: (item: DurableItem) => DurableItem,
): DocumentChange<{ readonly item?: DurableItem }> {
  const item = openItem(document.items, ownerId, id, place);
  if (item === undefined) return { document, result: {} };
  const changed = change(item);
  if (isDeepStrictEqual(item, changed)) return { document, result: { item } };
  return { document: withItems(document, { replaced: [[item, changed]] }), result: { item: changed } };
}

/** A new text for an item, said by its owner in `place`. */
interface EditRequest extends Utterance, Pick<DurableItem, 'when' | 'looksBack'> {
  readonly id: string;
}

export type EditOutcome =
  | { readonly outcome: 'edited'; readonly item: DurableItem }
  | { readonly outcome: 'refused'; readonly reason: TextProblem | 'unknown-id' }
  /** Another item says that already. */
  | { readonly outcome: 'refused'; readonly reason: 'known'; readonly item: DurableItem };

/** Puts a new text into an active item that may be used in the place [K8]. A refusal leaves the document as it was. */
export function editItem(
  document: DurableDocument,
  ownerId: string,
  { id, text: written, place, messageId, when, looksBack }: EditRequest,
  now: Date,
): DocumentChange<EditOutcome> {
  const refused = (reason: TextProblem | 'unknown-id') =>
    ({ document, result: { outcome: 'refused', reason } }) as const;
  const text = written.trim();
  const old = openItem(document.items, ownerId, id, place);
  if (old === undefined) return refused('unknown-id');
  const problem = textProblem({ text });
  if (problem !== undefined) return refused(problem);
  if (text === old.text) return { document, result: { outcome: 'edited', item: old } };
  const twin = itemsWithWording(document.items, text).find(
    (item) => item.status === 'active' && item !== old,
  );
  if (twin !== undefined) return { document, result: { outcome: 'refused', reason: 'known', item: twin } };

  const at = now.toISOString();
  const before = reachOfItem(old);
  const visibility = explicitVisibilityOf(place.audience);
  // The new words are for nobody who could not read them, nor for more than the item was.
  const origin = isSameReach(narrower(pickReach({ ...place, visibility }), before), before)
    ? { source: { ...old.source, type: 'manual' as const } }
    : { visibility, source: sourceIn(place, 'manual', messageId) };
  const item: DurableItem = {
    ...reworded(old, { text, when, looksBack }),
    ...origin,
    updatedAt: at,
    confirmedAt: at,
  };
  const added = [previousVersion(old, document.items, now)];
  const changed = withItems(document, { replaced: [[old, item]], added });
  return { document: changed, result: { outcome: 'edited', item } };
}

/** An item that says something else, with or without a question and a day. */
export function reworded(
  item: DurableItem,
  { text, question, when, looksBack }: Pick<DurableItem, 'text' | 'question' | 'when' | 'looksBack'>,
): DurableItem {
  return { ...item, text, question, when, looksBack };
}

/** What an item says, as the history of the same item once it says something else [K8]. */
function previousVersion(item: DurableItem, items: readonly DurableItem[], now: Date): DurableItem {
  const at = now.toISOString();
  return {
    ...item,
    id: freeId(`${item.text}\n${at}`, items),
    status: 'deprecated',
    pinned: false,
    supersededBy: item.id,
    updatedAt: at,
  };
}

/** Has active items that may be used in the place hold still [K16]; `[]` where one of them is none by now. */
export function confirmItems(
  document: DurableDocument,
  ownerId: string,
  ids: readonly string[],
  place: Place,
  now: Date,
): DocumentChange<{ readonly items: readonly DurableItem[] }> {
  const found = ids.map((id) => openItem(document.items, ownerId, id, place));
  const items = found.flatMap((item) => item ?? []);
  if (items.length < ids.length) return { document, result: { items: [] } };
  const replaced = items.map((item) => [item, { ...item, confirmedAt: now.toISOString() }] as const);
  return {
    document: withItems(document, { replaced }),
    result: { items: replaced.map(([, confirmed]) => confirmed) },
  };
}

/**
 * Of two active items one stays, and has the pin of both; the other becomes its history [D6] [K16]. Without `item`
 * where one of them is none by now.
 */
export function keepOne(
  document: DurableDocument,
  ownerId: string,
  { kept, replaced, place }: { readonly kept: string; readonly replaced: string; readonly place: Place },
  now: Date,
): DocumentChange<{ readonly item?: DurableItem; readonly previous?: DurableItem }> {
  const [staying, leaving] = [kept, replaced].map((id) => openItem(document.items, ownerId, id, place));
  if (staying === undefined) return { document, result: {} };
  const superseded = supersede(leaving, staying.id, now);
  if (superseded === undefined) return { document, result: {} };
  const pinned = staying.pinned || superseded[0].pinned;
  const item: DurableItem = { ...staying, pinned, confirmedAt: now.toISOString() };
  const changed = withItems(document, { replaced: [[staying, item], superseded] });
  return { document: changed, result: { item, previous: superseded[0] } };
}
