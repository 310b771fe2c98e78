import { limits } from '../../core/limits.ts';
import { sameItemForm } from '../../core/text.ts';
import {
  hexDigits,
  itemKinds,
  withItems,
  wordingOf,
  type DurableDocument,
  type DurableItem,
  type ItemKind,
} from './document.ts';
import { itemHistories } from './items.ts';

/** No longer in use, and not among the newest ten that a present item corrected [L3]. */
function outgrownItems({ items }: DurableDocument): readonly DurableItem[] {
  const kept = new Set(
    [...itemHistories(items).values()].flatMap((past) => past.slice(0, limits.itemHistory)),
  );
  return items.filter((item) => item.status === 'deprecated' && !kept.has(item));
}

export function withBoundedPast(document: DurableDocument): DurableDocument {
  const outgrown = outgrownItems(document);
  return withTombstones(withItems(document, { removed: outgrown }), outgrown);
}

/** The document with what is left of these items. */
export function withTombstones(document: DurableDocument, items: readonly DurableItem[]): DurableDocument {
  if (items.length === 0) return document;
  const added = items.map(tombstoneOf);
  const hashes = new Set(added.map(hashOf));
  const others = (document.gone ?? []).filter((each) => !hashes.has(hashOf(each)));
  return { ...document, gone: [...others, ...added].slice(-limits.goneItems) };
}

/** What is known of an item with this wording, if it is gone; and the document without that, for when it comes back. */
export function findGone(
  document: DurableDocument,
  wording: string,
): { readonly kind: ItemKind; readonly without: DurableDocument } | undefined {
  const hash = textHash(wording);
  const found = document.gone?.findLast((each) => hashOf(each) === hash);
  if (found === undefined) return undefined;
  const gone = document.gone?.filter((each) => hashOf(each) !== hash);
  const kind = itemKinds.find((each) => found.endsWith(` ${each}`)) ?? 'fact';
  return { kind, without: { ...document, gone } };
}

/**
 * What is left of an item whose text has left the disk [S7], as `<hash> <kind>`, so that it is not extracted again [D2].
 */
export function tombstoneOf(item: DurableItem): string {
  return `${textHash(wordingOf(item))} ${item.kind}`;
}

/** Of the text that is gone. */
export function hashOf(gone: string): string {
  return gone.slice(0, gone.indexOf(' '));
}

function textHash(text: string): string {
  return hexDigits(sameItemForm(text), 16);
}
