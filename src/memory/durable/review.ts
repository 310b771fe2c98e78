import { stopTerms, terms } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import { byAge, type DurableItem, isOver } from './document.ts';

/** What a person is asked about [K16]: one item, or two that say the same or two things of one matter. */
export type ReviewCard =
  | { readonly reason: 'over' | 'unconfirmed'; readonly items: readonly [DurableItem] }
  | { readonly reason: 'pair'; readonly items: readonly [newer: DurableItem, older: DurableItem] };

const dayMs = 24 * 60 * 60_000;
/** What was confirmed is not asked about for half a year. */
const confirmedForMs = 183 * dayMs;
/** Nor is anything by itself that was said or changed of late. */
const recentForMs = 30 * dayMs;

/**
 * What there is to ask about active items: those that are over, then pairs, then the oldest that nobody has confirmed;
 * each item once.
 */
export async function reviewCards(
  items: readonly DurableItem[],
  now: Date,
  /** `YYYY-MM-DD`, where their owner is. */
  today: string,
): Promise<readonly ReviewCard[]> {
  const isWithin = (time: string | undefined, ms: number): boolean =>
    time !== undefined && now.getTime() - Date.parse(time) < ms;
  const isConfirmed = ({ confirmedAt }: DurableItem): boolean => isWithin(confirmedAt, confirmedForMs);
  /** Whether something was confirmed since there was something else. */
  const isSettled = (item: DurableItem, { createdAt }: DurableItem): boolean =>
    isConfirmed(item) && Date.parse(item.confirmedAt ?? '') >= Date.parse(createdAt);

  const oldest = items.toSorted(byAge);
  const over = oldest.filter((item) => isOver(item, today) && !isConfirmed(item));
  const ids = new Set(over);
  const pairs = (await pairsIn(oldest.filter((item) => !ids.has(item)))).filter(([newer, older]) => {
    if (ids.has(newer) || ids.has(older) || isSettled(newer, older) || isSettled(older, newer)) return false;
    ids.add(newer).add(older);
    return true;
  });
  const unconfirmed = oldest.filter(
    (item) => !ids.has(item) && !item.pinned && !isConfirmed(item) && !isWithin(item.updatedAt, recentForMs),
  );
  return [
    ...over.map((item): ReviewCard => ({ reason: 'over', items: [item] })),
    ...pairs.map((pair): ReviewCard => ({ reason: 'pair', items: pair })),
    ...unconfirmed.map((item): ReviewCard => ({ reason: 'unconfirmed', items: [item] })),
  ];
}

/** From a list, oldest first. */
async function pairsIn(
  items: readonly DurableItem[],
): Promise<readonly (readonly [newer: DurableItem, older: DurableItem])[]> {
  const rest = createTimeSlice();
  const older: ReturnType<typeof compared>[] = [];
  const pairs: [DurableItem, DurableItem][] = [];
  for (const item of items) {
    await rest();
    const one = compared(item);
    for (const other of older) if (isOneMatter(one, other)) pairs.push([item, other.item]);
    older.push(one);
  }
  return pairs;
}

/** An item as it is compared: its stemmed words in order, and those that are more than grammar. */
interface Compared {
  readonly item: DurableItem;
  readonly terms: readonly string[];
  readonly large: ReadonlySet<string>;
}

/** What is needed of an item to compare it with others. */
export function compared(item: DurableItem): Compared {
  const all = terms(`${item.question ?? ''} ${item.text}`);
  return { item, terms: all, large: new Set(all.filter((term) => !stopTerms.has(term))) };
}

/**
 * Whether two items say the same, or two things of one matter, told by the words that they share and do not share, in
 * any language [K16]. It rather misses a pair than shows one that is none.
 */
export function isOneMatter(one: Compared, other: Compared): boolean {
  const kinds = new Set([one.item.kind, other.item.kind]);
  // What people store themselves is a `fact`, whatever it is.
  if (kinds.size > 1 && !kinds.has('fact')) return false;
  return saysSame(one, other) || saysOtherwise(one, other);
}

/** Whether one says all that the other does and little more. */
function saysSame(one: Compared, other: Compared): boolean {
  const [few, many] = [one.large, other.large].toSorted((a, b) => a.size - b.size);
  if (few === undefined || many === undefined || few.size === 0) return false;
  if ((few.size === 1 && many.size > 1) || 2 * few.size < many.size) return false;
  return [...few].every((term) => many.has(term));
}

/** Words of a value at most, such as a name. */
const mostWords = 4;

/** Whether both say the same but for one run of words, in which they share none: two values of one thing. */
function saysOtherwise(one: Compared, other: Compared): boolean {
  const [a, b] = [one.terms, other.terms];
  const shorter = Math.min(a.length, b.length);
  let [before, behind] = [0, 0];
  while (before < shorter && a[before] === b[before]) before += 1;
  while (before + behind < shorter && a.at(-1 - behind) === b.at(-1 - behind)) behind += 1;
  const values = [one, other].map(({ terms: all, large }) =>
    all.slice(before, all.length - behind).filter((term) => large.has(term)),
  );
  if (values.some(({ length }) => length === 0 || length > mostWords)) return false;
  if (values.flat().some((term) => one.large.has(term) && other.large.has(term))) return false;
  const leading = a.slice(0, before).filter((term) => !isSmall(term)).length;
  const following = a.slice(a.length - behind).filter((term) => !isSmall(term)).length;
  if (values.every((value) => value.some((term) => /\p{N}/u.test(term)))) return leading + following >= 1;
  // A small word leads to the names: `I live in Porto`, but not `I speak French`.
  return leading >= 2 || (leading === 1 && isSmall(a[before - 1] ?? ''));
}

/** Hardly more than grammar, in most languages that separate words. */
function isSmall(term: string): boolean {
  return stopTerms.has(term) || /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}]{1,3}$/u.test(term);
}
