import { isDeepStrictEqual } from 'node:util';

import type { Place } from '../../core/place.ts';
import { toSingleLine } from '../../core/text.ts';
import { askedVisibilityOf, isSameReach, narrower, pickReach } from '../../core/visibility.ts';
import {
  activeInOrder,
  changedItems,
  freeId,
  isSecret,
  itemMaxChars,
  itemsWithWording,
  mayUseItem,
  reachOfItem,
  sourceIn,
  wordingOf,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { contentWords } from './evidence.ts';

/** The active item with that id, if it may be used in `place`. */
export function openItem(
  items: readonly DurableItem[],
  ownerId: string,
  id: string,
  place: Place,
): DurableItem | undefined {
  const wanted = id.trim().toLowerCase();
  return items.find(
    (item) =>
      item.status === 'active' && item.id.toLowerCase() === wanted && mayUseItem(item, ownerId, place),
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
  const items = changedItems(document.items, { replaced: [[item, changed]] });
  return { document: { ...document, items }, result: { item: changed } };
}

/** A new text for an item, said by its owner in `place`. */
interface EditRequest extends Pick<DurableItem, 'when' | 'looksBack'> {
  readonly id: string;
  readonly text: string;
  readonly place: Place;
  readonly messageId: string;
}

export type EditOutcome =
  | { readonly outcome: 'edited'; readonly item: DurableItem }
  | { readonly outcome: 'refused'; readonly reason: 'empty' | 'too-long' | 'secret' | 'unknown-id' }
  /** Another item says that already. */
  | { readonly outcome: 'refused'; readonly reason: 'known'; readonly item: DurableItem };

/** Puts a new text into an active item that may be used in the place [K8]. A refusal leaves the document as it was. */
export function editItem(
  document: DurableDocument,
  ownerId: string,
  { id, text: written, place, messageId, when, looksBack }: EditRequest,
  now: Date,
): DocumentChange<EditOutcome> {
  const refused = (reason: 'empty' | 'too-long' | 'secret' | 'unknown-id') =>
    ({ document, result: { outcome: 'refused', reason } }) as const;
  const text = written.trim();
  const old = openItem(document.items, ownerId, id, place);
  if (old === undefined) return refused('unknown-id');
  if (toSingleLine(text) === '') return refused('empty');
  if (text.length > itemMaxChars) return refused('too-long');
  if (isSecret(text)) return refused('secret');
  if (text === old.text) return { document, result: { outcome: 'edited', item: old } };
  const twin = itemsWithWording(document.items, text).find(
    (item) => item.status === 'active' && item !== old,
  );
  if (twin !== undefined) return { document, result: { outcome: 'refused', reason: 'known', item: twin } };

  const at = now.toISOString();
  const before = reachOfItem(old);
  const visibility = askedVisibilityOf(place.audience);
  // The new words are for nobody who could not read them, nor for more than the item was.
  const origin = isSameReach(narrower(pickReach({ ...place, visibility }), before), before)
    ? { source: { ...old.source, type: 'manual' as const } }
    : { visibility, source: sourceIn(place, 'manual', messageId) };
  const item: DurableItem = { ...reworded(old, { text, when, looksBack }), ...origin, updatedAt: at };
  const added = [formerOf(old, document.items, now)];
  const items = changedItems(document.items, { replaced: [[old, item]], added });
  return { document: { ...document, items }, result: { outcome: 'edited', item } };
}

/** An item that says something else, with or without a question and a day. */
export function reworded(
  item: DurableItem,
  { text, question, when, looksBack }: Pick<DurableItem, 'text' | 'question' | 'when' | 'looksBack'>,
): DurableItem {
  return { ...item, text, question, when, looksBack };
}

/** What an item says, as the history of the same item once it says something else [K8]. */
function formerOf(item: DurableItem, items: readonly DurableItem[], now: Date): DurableItem {
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

/** Of an older item's content words, the part that a newer one has to say too. */
const sharedOfOlder = 3 / 4;
/** Of the newer item's content words, the part that these are at least. */
const sharedOfNewer = 1 / 2;

/** The closest active item usable in a place that says nearly the same as a newer one [K8]. */
export function nearDuplicateOf(
  item: DurableItem,
  items: readonly DurableItem[],
  ownerId: string,
  place: Place,
): DurableItem | undefined {
  const said = new Set(contentWords(wordingOf(item)));
  const near = activeInOrder(items)
    .filter((each) => each.id !== item.id && mayUseItem(each, ownerId, place))
    .map((each) => ({ each, likeness: likenessOf(new Set(contentWords(wordingOf(each))), said) }))
    .filter(({ likeness }) => likeness > 0);
  return near.toSorted((a, b) => b.likeness - a.likeness)[0]?.each;
}

/** From 0, for what says something else, to 1. One word in common is enough only where neither has another. */
function likenessOf(older: ReadonlySet<string>, newer: ReadonlySet<string>): number {
  const shared = [...older].filter((term) => newer.has(term)).length;
  const all = older.size + newer.size - shared;
  const isNear = shared >= sharedOfOlder * older.size && shared >= sharedOfNewer * newer.size;
  return shared > 0 && isNear && (shared > 1 || all === 1) ? shared / all : 0;
}

interface MergeOutcome {
  readonly item?: DurableItem;
  /** The older one, as it was. */
  readonly before?: DurableItem;
}

/**
 * Makes one of two active items [K8]: the older keeps its id and pin, and gets the newer words and their scope. What
 * it said goes into its history.
 */
export function mergeItems(
  document: DurableDocument,
  ownerId: string,
  { id, into, place }: { readonly id: string; readonly into: string; readonly place: Place },
  now: Date,
): DocumentChange<MergeOutcome> {
  const [newer, older] = [id, into].map((each) => openItem(document.items, ownerId, each, place));
  if (newer === undefined || older === undefined || newer === older) return { document, result: {} };
  const item: DurableItem = {
    ...reworded(older, newer),
    visibility: newer.visibility,
    source: newer.source,
    pinned: older.pinned || newer.pinned,
    updatedAt: now.toISOString(),
  };
  const moved = document.items
    .filter(({ status, supersededBy }) => status === 'deprecated' && supersededBy === newer.id)
    .map((each) => [each, { ...each, supersededBy: older.id }] as const);
  const items = changedItems(document.items, {
    replaced: [[older, item], ...moved],
    removed: [newer],
    added: [formerOf(older, document.items, now)],
  });
  return { document: { ...document, items }, result: { item, before: older } };
}
