import { stopTerms, terms, unspacedScript } from '../../core/text.ts';
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

/** An item as it is compared. */
export interface Compared {
  readonly item: DurableItem;
  readonly tokens: readonly Token[];
  readonly terms: ReadonlySet<string>;
  /** Those that are more than grammar. */
  readonly large: ReadonlySet<string>;
}

/** What is needed of an item to compare it with others. */
export function compared(item: DurableItem): Compared {
  const tokens = tokensOf(`${item.question ?? ''} ${item.text}`);
  return { item, tokens, terms: termsOf(tokens), large: termsOf(tokens.filter(isLarge)) };
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

/** Whether one says all that the other does and little more, each without a longer word of its own in its place. */
function saysSame(one: Compared, other: Compared): boolean {
  const [few, many] = [one.large, other.large].toSorted((a, b) => a.size - b.size);
  if (few === undefined || many === undefined || few.size === 0) return false;
  if ((few.size === 1 && many.size > 1) || 2 * few.size < many.size) return false;
  return [...few].every((term) => many.has(term)) && !(hasOwn(one, other) && hasOwn(other, one));
}

/** Whether one has a word of its own, such as `cat`, longer than most grammar. */
function hasOwn(one: Compared, other: Compared): boolean {
  return [...one.terms].some((term) => term.length >= smallLetters && !other.terms.has(term));
}

/** Words of a value at most, such as a name. */
const mostWords = 4;

/** Whether both say the same but for one run of words, in which they share none: two values of one thing. */
function saysOtherwise(one: Compared, other: Compared): boolean {
  const [a, b] = [one.tokens, other.tokens];
  const shorter = Math.min(a.length, b.length);
  let [before, behind] = [0, 0];
  while (before < shorter && a[before]?.term === b[before]?.term) before += 1;
  while (before + behind < shorter && a.at(-1 - behind)?.term === b.at(-1 - behind)?.term) behind += 1;
  const valueOf = (tokens: readonly Token[]) => tokens.slice(before, tokens.length - behind).filter(isLarge);
  const values = [valueOf(a), valueOf(b)];
  if (values.some(({ length }) => length === 0 || length > mostWords)) return false;
  if (values.flat().some(({ term }) => one.large.has(term) && other.large.has(term))) return false;
  const [said, added] = [weightOf(a.slice(0, before)), weightOf(a.slice(a.length - behind))];
  if (values.every((value) => value.some(({ shape }) => shape === 'number'))) return said + added >= 1;
  if (said < added) return false;
  // A small word leads to the names: `I live in Porto`, but not `I speak French`.
  const areNames = a[before - 1]?.shape === 'small' && values.every(([first]) => first?.shape === 'name');
  return said >= 2 || (said >= 1 && areNames);
}

function weightOf(tokens: readonly Token[]): number {
  return tokens.filter(isLarge).reduce((sum, { weight }) => sum + weight, 0);
}

/** A word, or a character of a script that does not separate words. */
interface Token {
  readonly term: string;
  /** A small one is hardly more than grammar. */
  readonly shape: 'number' | 'name' | 'word' | 'small';
  /** Of a whole word. */
  readonly weight: number;
}

const tokenPattern = new RegExp(
  String.raw`\p{N}+|[\p{Script=Katakana}ー]+|${unspacedScript.source}|(?:(?!${unspacedScript.source})[\p{L}\p{M}])+`,
  'gu',
);

function termsOf(of: readonly Token[]): ReadonlySet<string> {
  return new Set(of.map(({ term }) => term));
}

function isLarge({ shape }: Token): boolean {
  return shape !== 'small';
}

/** Letters of a small word, in most languages that separate words. */
const smallLetters = 3;

function tokensOf(text: string): readonly Token[] {
  return Array.from(text.matchAll(tokenPattern), ({ 0: word, index }) => {
    const term = terms(word).join(' ');
    const isWord = !unspacedScript.test(word) || word.length > 1;
    return {
      term,
      shape: shapeOf(word, term, text.slice(0, index).trim() === ''),
      weight: isWord ? 1 : 1 / 2,
    };
  });
}

function shapeOf(word: string, term: string, isFirst: boolean): Token['shape'] {
  if (/\p{N}/u.test(word)) return 'number';
  if (/\p{Script=Hiragana}/u.test(word) || stopTerms.has(term)) return 'small';
  if (unspacedScript.test(word)) return 'word';
  if (!isFirst && /^\p{Lu}/u.test(word)) return 'name';
  return word.length <= smallLetters ? 'small' : 'word';
}
