import { stemmer as stemEnglish } from '@orama/stemmers/english';
import { stemmer as stemRussian } from '@orama/stemmers/russian';

/** The form under which two texts count as the same [D2]: NFKC, lower case, white space collapsed, trimmed. */
export function normalizeText(text: string): string {
  return text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/**
 * One line: control characters, line and paragraph separators, bidirectional overrides and other invisible format characters (but the
 * joiners that scripts and emoji need) become a space or vanish, white space is collapsed [P3].
 */
export function flatten(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(?![\u200c\u200d])[\p{Cf}]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** A text as a regular expression that finds it literally. */
export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}

const ellipsis = '…';

/** At most `max` characters (UTF-16 units, as Discord and budgets count), never splitting a code point [P4]. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return '';
  const last = text.charCodeAt(max - 1);
  const splitsPair = last >= 0xd8_00 && last <= 0xdb_ff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

/** Clips at the last word that fits, marked by `…`; the result is at most `max` characters. */
export function clipAtWord(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 1) return clip(ellipsis, max);
  const head = clip(text, max - 1);
  const nextIsSpace = /^\s/u.test(text.slice(head.length));
  const cut = nextIsSpace ? -1 : head.search(/\s(?=\S*$)/u);
  return `${(cut > max / 3 ? head.slice(0, cut) : head).trimEnd()}${ellipsis}`;
}

/** Clips at the end of the last sentence that fits, else at a word; the result is at most `max` characters. */
export function clipAtSentence(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = clip(text, max);
  const ends = [...head.matchAll(/[.!?](?=\s|$)|[。！？]|\n/gu)];
  const end = ends.at(-1);
  if (end === undefined || end.index < max / 3) return clipAtWord(text, max);
  return head.slice(0, end.index + end[0].length).trimEnd();
}

const withoutSpaces =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const runs = new RegExp(
  `${withoutSpaces.source}+|(?:(?!${withoutSpaces.source})[\\p{L}\\p{M}\\p{N}])+`,
  'gu',
);

/**
 * The terms of a text in any script, in order, repeated ones included: words in lower case and stemmed (NFKC first); scripts
 * written without spaces give their pairs of characters, a lone character itself.
 */
export function terms(text: string): string[] {
  const found = text.normalize('NFKC').toLowerCase().match(runs) ?? [];
  return found.flatMap((run) => (withoutSpaces.test(run) ? pairs(run) : [stem(run)]));
}

/** A word's stem: English for Latin letters, Russian for Cyrillic, the word itself otherwise. */
function stem(word: string): string {
  if (/^[a-z]+$/u.test(word)) return stemEnglish(word);
  if (/^[\p{Script=Cyrillic}]+$/u.test(word)) return stemRussian(word);
  return word;
}

function pairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(0, -1).map((character, index) => character + (characters[index + 1] ?? ''));
}

/** The JSON of a structured answer: servers without structured output answer inside a code fence. */
export function withoutFence(text: string): string {
  return /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/u.exec(text)?.[1] ?? text;
}
