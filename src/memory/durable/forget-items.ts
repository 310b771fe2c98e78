import type { Place } from '../../core/place.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import { normalizeText } from '../../core/text.ts';
import { deprecateItems, isSeen } from './deprecate-items.ts';
import type { DurableDocument, DurableItem } from './durable-document.ts';
import { mayUseItem } from './item-place.ts';

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
): { readonly document: DurableDocument; readonly result: ForgetResult } {
  const matching = new Set(matchingItems(document.items, target));
  const { items, deprecated } = deprecateItems(
    document.items,
    (item) => matching.has(item) && mayUseItem(item, ownerId, place),
    now,
  );
  const marked = new Map(deprecated.map((item) => [item, { ...item, forgotten: true as const }]));
  const changed = marked.size === 0 ? items : items.map((item) => marked.get(item) ?? item);
  return {
    document: { ...document, items: changed, forgottenUpTo: later(document.forgottenUpTo, commandId) },
    result: { forgotten: [...marked.values()], elsewhere: matching.size - deprecated.length },
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
