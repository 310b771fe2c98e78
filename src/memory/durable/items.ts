import type { Place } from '../../core/place.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import { normalizeText } from '../../core/text.ts';
import type { Visibility } from '../../core/visibility.ts';
import {
  byAge,
  mayUseItem,
  type DocumentChange,
  type DurableDocument,
  type DurableItem,
} from './document.ts';

export interface ForgetResult {
  /** Deprecated now. */
  readonly forgotten: readonly DurableItem[];
  /** How many more match that may not be touched in this place [K2]. */
  readonly elsewhere: number;
}

/**
 * Deprecates what matches and may be used in `place`. Whatever was said up to `commandId` is not extracted again, even where
 * nothing matched yet: an extraction may be running on it [A4].
 */
export function forgetItems(
  document: DurableDocument,
  ownerId: string,
  target: string,
  place: Place,
  commandId: string,
  now: Date,
): DocumentChange<ForgetResult> {
  const matching = new Set(matchingItems(document.items, target));
  const { document: next, result } = forgetChosen(
    document,
    (item) => matching.has(item) && mayUseItem(item, ownerId, place),
    commandId,
    now,
  );
  return { document: next, result: { forgotten: result, elsewhere: matching.size - result.length } };
}

/** Deprecates the chosen items, and marks up to where nothing is extracted again; what is forgotten already stays as it is. */
export function forgetChosen(
  document: DurableDocument,
  isChosen: (item: DurableItem) => boolean,
  commandId: string,
  now: Date,
): DocumentChange<readonly DurableItem[]> {
  const { items, deprecated } = deprecateItems(document.items, isChosen, now);
  const marked = new Map(deprecated.map((item) => [item, { ...item, forgotten: true as const }]));
  const changed = marked.size === 0 ? items : items.map((item) => marked.get(item) ?? item);
  return {
    document: { ...document, items: changed, forgottenUpTo: later(document.forgottenUpTo, commandId) },
    result: [...marked.values()],
  };
}

/**
 * The items that a target names, those included that another one corrected [D6]: the one with this id, else all whose text contains it, whatever the case. It is
 * plain text, never a pattern [K2]; an empty one names nothing.
 */
export function matchingItems(items: readonly DurableItem[], target: string): readonly DurableItem[] {
  const wanted = normalizeText(target);
  if (wanted === '') return [];
  const seen = items.filter(isSeen);
  const named = seen.filter((item) => item.id.toLowerCase() === wanted);
  return named.length > 0 ? named : seen.filter((item) => normalizeText(item.text).includes(wanted));
}

function later(before: string | undefined, now: string): string {
  return before !== undefined && compareSnowflakes(before, now) > 0 ? before : now;
}

/**
 * Removes what was extracted from deleted or edited messages [G5], in use or not, but for what an edited message still supports. What a person
 * asked to remember stays, and so does what they had forgotten, which is not to come back.
 */
export function removeBySource(
  document: DurableDocument,
  messageIds: readonly string[],
  stillSupported: (item: DurableItem) => boolean,
): DocumentChange<readonly DurableItem[]> {
  const changed = new Set(messageIds);
  const removed = new Set(
    document.items.filter(
      (item) =>
        item.source.type !== 'manual' &&
        item.forgotten === undefined &&
        changed.has(item.source.messageId) &&
        !stillSupported(item),
    ),
  );
  if (removed.size === 0) return { document, result: [] };
  const items = document.items.filter((item) => !removed.has(item));
  return { document: { ...document, items }, result: [...removed] };
}

/** Whether people still see an item: as what holds, or as what that corrected [D6]. */
function isSeen(item: DurableItem): boolean {
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
): { readonly items: readonly DurableItem[]; readonly deprecated: readonly DurableItem[] } {
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

/** Shares or hides an active item that may be used in `place`; `undefined` when there is no such item. Its age stays. */
export function setVisibility(
  document: DurableDocument,
  ownerId: string,
  id: string,
  visibility: Visibility,
  place: Place,
): DocumentChange<DurableItem | undefined> {
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
