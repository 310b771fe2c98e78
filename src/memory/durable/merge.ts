import type { Place } from '../../core/place.ts';
import {
  activeInOrder,
  changedItems,
  mayUseItem,
  wordingOf,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';
import { contentWords } from './evidence.ts';
import { formerOf, reworded } from './remember-item.ts';

/** Of an older item's content words, the part that a newer one has to say too. */
const sharedOfOlder = 3 / 4;
/** Of the newer item's content words, the part that these are at least. */
const sharedOfNewer = 1 / 2;

/** The active item usable in a place that says nearly the same as a newer one [K8], the closest first; `undefined` where there is none. */
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

/** Empty where one of the two is not there any more, or may not be used in the place. */
interface MergeOutcome {
  readonly item?: DurableItem;
  /** The older one, as it was. */
  readonly before?: DurableItem;
}

/**
 * Makes one of two active items [K8]: the older one keeps its id and pin and says what the newer one does, in the places where that may be used; what
 * it said goes into its history, with what the newer one had said before. A refusal leaves the document as it was.
 */
export function mergeItems(
  document: DurableDocument,
  ownerId: string,
  { id, into, place }: { readonly id: string; readonly into: string; readonly place: Place },
  now: Date,
): DocumentChange<MergeOutcome> {
  const [newer, older] = [id, into].map((each) => document.items.find((item) => item.id === each));
  const isOpen = (item: DurableItem | undefined): item is DurableItem =>
    item?.status === 'active' && mayUseItem(item, ownerId, place);
  if (!isOpen(newer) || !isOpen(older) || newer === older) return { document, result: {} };
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
