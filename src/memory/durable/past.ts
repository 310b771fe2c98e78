import { limits } from '../../core/limits.ts';
import { sameItemForm } from '../../core/text.ts';
import {
  hexDigits,
  itemKinds,
  wordingOf,
  type DurableDocument,
  type DurableItem,
  type ItemKind,
} from './document.ts';
import { contentWords, termsSaid } from './evidence.ts';
import { formerItems, withoutItems } from './items.ts';

/**
 * What is left of an item whose text has left the disk [S7], as `<hash> <when> <kind> <words>`, so that it is neither
 * extracted [D2] nor recalled [C1]. A hash of a word is so short that many words have it.
 */
interface Tombstone {
  readonly hash: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly kind: ItemKind;
  /** None where it was not forgotten, but made way for others. */
  readonly words: readonly string[];
}

/** No longer in use, and not among the newest ten that a present item corrected [L3]. */
function outgrownItems({ items }: DurableDocument): readonly DurableItem[] {
  const kept = new Set([...formerItems(items).values()].flatMap((past) => past.slice(0, limits.formerItems)));
  return items.filter((item) => item.status === 'deprecated' && !kept.has(item));
}

export function withBoundedPast(document: DurableDocument): DurableDocument {
  const outgrown = outgrownItems(document);
  return withTombstones(withoutItems(document, outgrown), outgrown);
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
  if (document.gone === undefined || document.gone.length === 0) return undefined;
  const wanted = textHash(wording);
  const found = document.gone.findLast((each) => hashOf(each) === wanted);
  if (found === undefined) return undefined;
  const gone = document.gone.filter((each) => hashOf(each) !== wanted);
  return { kind: readTombstone(found)?.kind ?? 'fact', without: { ...document, gone } };
}

/** Tells of what was said at a time, ISO 8601, whether it tells what its owner has had forgotten since. */
export type ForgottenTest = (text: string, at: string | undefined) => boolean;

export function forgottenTest({ gone = [] }: DurableDocument): ForgottenTest {
  const forgotten = gone.flatMap((each) => readTombstone(each) ?? []).filter(({ words }) => words.length > 0);
  const hashes = new Map<string, string>();
  const hashOnce = (word: string): string => {
    const hash = hashes.get(word) ?? wordHash(word);
    hashes.set(word, hash);
    return hash;
  };
  return (text, at) => {
    const since = forgotten.filter((item) => at === undefined || at <= item.at);
    if (since.length === 0) return false;
    const said = new Set([...termsSaid(text)].map(hashOnce));
    return since.some(({ words }) => words.every((word) => said.has(word)));
  };
}

/** What is left of an item whose text leaves the disk. */
export function tombstoneOf(item: DurableItem): string {
  const { kind, updatedAt, forgotten } = item;
  const words = forgotten === true ? contentWords(item.text).map(wordHash) : [];
  return [textHash(wordingOf(item)), new Date(updatedAt).toISOString(), kind, ...new Set(words)].join(' ');
}

function readTombstone(gone: string): Tombstone | undefined {
  const [hash = '', at = '', kind, ...words] = gone.split(' ');
  const known = itemKinds.find((each) => each === kind);
  return known === undefined ? undefined : { hash, at, kind: known, words };
}

/** Of the text that is gone. */
export function hashOf(gone: string): string {
  return gone.slice(0, gone.indexOf(' '));
}

function textHash(text: string): string {
  return hexDigits(sameItemForm(text), 16);
}

function wordHash(word: string): string {
  return hexDigits(word, 4);
}
