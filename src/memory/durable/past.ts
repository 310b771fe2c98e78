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

/** No longer in use, final, and not among the newest ten that a present item corrected [L3]. */
function outgrownItems({ items }: DurableDocument): readonly DurableItem[] {
  const kept = new Set(
    [...itemHistories(items).values()].flatMap((past) => past.slice(0, limits.itemHistory)),
  );
  return items.filter(
    (item) => item.status === 'deprecated' && item.changes === undefined && !kept.has(item),
  );
}

/** Without them; the very same document where there are none. */
export function withoutOutgrown(document: DurableDocument): DurableDocument {
  return withItems(document, { removed: outgrownItems(document) });
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

/** The kind of an item with this wording that is gone, if there was one; it stays known when that comes back. */
export function goneKind(document: DurableDocument, wording: string): ItemKind | undefined {
  const hash = textHash(wording);
  const found = document.gone?.findLast((each) => hashOf(each) === hash);
  if (found === undefined) return undefined;
  return itemKinds.find((each) => found.endsWith(` ${each}`)) ?? 'fact';
}

/**
 * What is left of an item whose text has left the disk [S7], as `<hash> <kind>`, so that it is not extracted again [D2].
 */
export function tombstoneOf(item: DurableItem): string {
  return `${textHash(wordingOf(item))} ${item.kind}`;
}

/** Of the text that is gone. */
function hashOf(gone: string): string {
  return gone.slice(0, gone.indexOf(' '));
}

function textHash(text: string): string {
  return hexDigits(sameItemForm(text), 16);
}
