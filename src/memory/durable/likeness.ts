import { fillerTerms, terms } from '../../core/text.ts';
import type { DurableItem } from './document.ts';
import { unspacedScript } from './evidence.ts';

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
  if (![...one.large].some((term) => other.large.has(term))) return false;
  return saysSame(one, other) || saysOtherwise(one, other);
}

/** Of what the longer one says, the part that the shorter one says too. */
const sharedOfLonger = 1 / 2;

/** Whether one says all that the other does, and little more; or both say the same in another order. */
function saysSame(one: Compared, other: Compared): boolean {
  const [shorter, longer] = one.large.size < other.large.size ? [one, other] : [other, one];
  const [few, many] = [shorter.large.size, longer.large.size];
  if (few === 0 || (few === 1 && many > 1) || few < sharedOfLonger * many) return false;
  if (!isWithin(shorter.large, longer.large)) return false;
  return few === many ? !(hasOwn(one, other) && hasOwn(other, one)) : isWithin(shorter.terms, longer.terms);
}

/** Whether one has a word of its own, such as `cat`, longer than most grammar. */
function hasOwn(one: Compared, other: Compared): boolean {
  return [...one.terms].some((term) => term.length >= smallLetters && !other.terms.has(term));
}

function isWithin(few: ReadonlySet<string>, many: ReadonlySet<string>): boolean {
  return [...few].every((term) => many.has(term));
}

/** Words of what is short enough to say one thing only. */
const mostSaid = 12;

/** Whether the same is said of the same with another value, where there is but one value. */
function saysOtherwise(one: Compared, other: Compared): boolean {
  if (Math.max(one.large.size, other.large.size) > mostSaid) return false;
  const [a, b] = [valueIn(one.tokens, other.large), valueIn(other.tokens, one.large)];
  if (a === undefined || b === undefined || (a.others > 0 && b.others > 0)) return false;
  const before = Math.min(a.before, b.before);
  if (a.shape === 'number' && b.shape === 'number')
    return Math.min(a.before + a.behind, b.before + b.behind) >= 1;
  if (before < Math.max(a.behind, b.behind)) return false;
  if (before >= 2) return true;
  return before >= 1 && a.shape === 'name' && b.shape === 'name' && a.isLed && b.isLed;
}

/** The last words of a text that another one does not have. */
interface Value {
  readonly shape: Token['shape'];
  /** Whether a small word leads to it, such as `in`. */
  readonly isLed: boolean;
  /** Shared words before and behind it. */
  readonly before: number;
  readonly behind: number;
  /** Runs of words before it that the other one does not have either. */
  readonly others: number;
}

const mostWords = 4;

function valueIn(tokens: readonly Token[], others: ReadonlySet<string>): Value | undefined {
  const said = tokens.filter(isLarge);
  const isOwn = ({ term }: Token) => !others.has(term);
  const end = said.findLastIndex(isOwn) + 1;
  if (end === 0) return undefined;
  const start = said.findLastIndex((token, index) => index < end && !isOwn(token)) + 1;
  const run = said.slice(start, end);
  const [first] = run;
  if (first === undefined || run.length > mostWords) return undefined;
  const shared = said.slice(0, start).filter((token) => !isOwn(token));
  return {
    shape: run.some(({ shape }) => shape === 'number') ? 'number' : first.shape,
    isLed: tokens[tokens.indexOf(first) - 1]?.shape === 'small',
    before: weightOf(shared),
    behind: weightOf(said.slice(end)),
    others: said.slice(0, start).filter((token, index) => isOwn(token) && !isOwn(said[index + 1] ?? token))
      .length,
  };
}

function weightOf(tokens: readonly Token[]): number {
  return tokens.reduce((sum, { weight }) => sum + weight, 0);
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
  if (/\p{Script=Hiragana}/u.test(word) || fillerTerms.has(term)) return 'small';
  if (unspacedScript.test(word)) return 'word';
  if (!isFirst && /^\p{Lu}/u.test(word)) return 'name';
  return word.length <= smallLetters ? 'small' : 'word';
}
