import { stemmer as stemEnglish } from '@orama/stemmers/english';
import { stemmer as stemRussian } from '@orama/stemmers/russian';

import { fillers, othersAndDenials } from './common-words.ts';
import { growingCache } from './limits.ts';

/** Characters by which a text's compatible form may be longer: a whole phrase stands for a single one of a few. */
const mostAdded = 2000;

/**
 * Unicode's compatible form; of a text that would grow out of all proportion the canonical one. Marks that follow each other without end, which no language
 * has, are parted by a joiner as Unicode's stream-safe form does: putting thousands of them in order takes the square of their number.
 */
export function compatible(text: string): string {
  if (!/\P{ASCII}/u.test(text)) return text;
  const parted = text.replace(/\p{M}{30}/gu, '$&\u034f');
  const form = parted.normalize('NFKC');
  return form.length > 2 * parted.length + mostAdded ? parted.normalize('NFC') : form;
}

/** NFKC, lower case by full case folding, white space collapsed, trimmed; accents, marks and signs count [D2]. */
export function normalizeText(text: string): string {
  if (!/\P{ASCII}/u.test(text)) return collapsed(text.toLowerCase());
  return collapsed(compatible(foldCase(compatible(text))));
}

/** The form under which two texts count as the same item [D2]: as {@link normalizeText} has it, without the `. ! …` that it ends in, unless it is nothing else. */
export function sameItemForm(text: string): string {
  const form = normalizeText(text);
  let end = form.length;
  while (end > 0 && ' .!。۔।'.includes(form.charAt(end - 1))) end -= 1;
  return end === 0 ? form : form.slice(0, end);
}

/**
 * The form in which words are found, however they are typed [D2]: as {@link normalizeText} has it, besides without marks where people leave them out, with plain
 * letters and signs, and without what nobody sees. Its positions are not those of the text.
 */
export function searchForm(text: string): string {
  if (!/\P{ASCII}/u.test(text)) return collapsed(text.toLowerCase());
  const letters = compatible(text.replace(unseen, ''))
    .normalize('NFD')
    .replace(markedLetter, (_, letter: string, marks: string) => letter + (keptMark(letter, marks) ?? ''));
  const plain = foldCase(letters).replace(typedOtherwise, (sign) => plainLetters.get(sign) ?? sign);
  return collapsed(plain.normalize('NFC'));
}

/** Full case folding, of which `toLowerCase` has only a part: `ß`, `ẞ` and `SS` are the same, and so are `σ` and `ς`; the dotless `ı` is no `i`. */
function foldCase(text: string): string {
  const parts = text.toLowerCase().split('ı');
  return parts
    .map((part) => part.toUpperCase().toLowerCase())
    .join('ı')
    .replaceAll('ς', 'σ');
}

/** Invisible characters, but for the joiner that {@link compatible} parts marks by; and what only stretches Arabic words. */
const unseen = /(?:(?!\u034f)\p{Default_Ignorable_Code_Point}|\u0640)+/gu;

/** A letter with marks, decomposed, in the scripts in which people leave marks out. */
const markedLetter =
  /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}])(\p{M}+)/gu;

/** The mark that makes another letter of one, which nobody leaves out: `й` is no `и`, and stems rest on it. */
function keptMark(letter: string, marks: string): string | undefined {
  return /и/iu.test(letter) && marks.includes('\u0306') ? '\u0306' : undefined;
}

/** Letters and signs that no decomposition makes plain, by what people type instead, after the usual rules of Arabic and Persian search. */
const plainLetters: ReadonlyMap<string, string> = new Map(
  Object.entries({
    i: 'ı', l: 'ł', d: 'đð', o: 'ø', ae: 'æ', oe: 'œ', th: 'þ', h: 'ħ', t: 'ŧ', e: 'ə', г: 'ґ',
    ا: 'ٱ', ي: 'ىی', ك: 'ک', ه: 'ةہھە', "'": '’‘ʼʻ׳', '"': '״“”„', '/': '⁄', '-': '‐‒–־',
    0: '٠۰', 1: '١۱', 2: '٢۲', 3: '٣۳', 4: '٤۴', 5: '٥۵', 6: '٦۶', 7: '٧۷', 8: '٨۸', 9: '٩۹',
  }).flatMap(([plain, others]) => Array.from(others, (other): [string, string] => [other, plain])),
); // prettier-ignore
const typedOtherwise = new RegExp(`[${[...plainLetters.keys()].join('')}]`, 'gu');

/** White space is collapsed; a single space, as between nearly all words, is not replaced by another. */
function collapsed(text: string): string {
  return text.replace(/[^\S ]\s*| \s+/gu, ' ').trim();
}

/**
 * One line: control characters, line and paragraph separators, bidirectional overrides and other invisible format characters (but the
 * joiners that scripts and emoji need) become a space or vanish, white space is collapsed [P3].
 */
export function flatten(text: string): string {
  if (/^[ -~]*$/u.test(text)) return collapsed(text);
  const seen = text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return collapsed(seen.replace(/[^\P{Cf}\u200c\u200d]/gu, ''));
}

/** Several lines, without control, format and separator characters that nobody sees; the joiners that scripts and emoji need stay, and so do tabs and line breaks. */
export function withoutInvisible(text: string): string {
  return text
    .toWellFormed()
    .replace(/(?:\r\n)+/gu, (breaks) => '\n'.repeat(breaks.length / 2))
    .replace(/[\r\p{Zl}\p{Zp}]+/gu, (breaks) => '\n'.repeat(breaks.length))
    .replace(/(?:[^\P{Cc}\n\t]|[^\P{Cf}\u200c\u200d])+/gu, '');
}

/** Letters and digits under the Latin letter that they can be taken for, small and capital ones each for itself. */
const lookalikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аАαΑɑ', b: 'ВвΒβЬь', c: 'сСϲϹ', d: 'ԁ', e: 'еЕΕεєЄ', g: 'ɡԌ', h: 'һНнΗ', j: 'јЈ', k: 'кКΚκ', l: 'iI1|!ıіІιΙӀӏ', m: 'мМΜ', n: 'пΝη',
    o: 'оОοΟσ0', p: 'рРρΡ', q: 'ԛ', r: 'г', s: 'ѕЅ5$', t: 'тТΤτ', u: 'υц', v: 'ѵνѴ', w: 'ԝωш', x: 'хХχΧ', y: 'уУγΥ', z: 'Ζ',
  }).flatMap(([latin, others]) => Array.from(others).map((other) => [other, latin])),
); // prettier-ignore

/** A form in which two names that look alike are the same: accents, case, white space, what is not seen, and letters of other alphabets make no difference. */
export function lookalike(name: string): string {
  const letters = Array.from(
    name.normalize('NFKD').replace(/[\p{M}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu, ''),
  );
  return letters
    .map((letter) => lookalikes.get(letter) ?? letter)
    .join('')
    .toLowerCase()
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** The same data with its texts, names of fields aside, well-formed: a lone half of a character, which no request may hold, becomes U+FFFD [S5]. */
export function wellFormed(data: unknown): unknown {
  if (typeof data === 'string') return data.toWellFormed();
  if (Array.isArray(data)) return data.map(wellFormed);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, wellFormed(value)]));
}

/** Data from JSON, its texts well-formed [S5]. @throws {SyntaxError} */
export function parseJson(text: string): unknown {
  const data: unknown = JSON.parse(text);
  // Such a half can stand in a file as an escape only.
  return text.includes(String.raw`\u`) && /\\ud[89a-f]/iu.test(text) ? wellFormed(data) : data;
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
/** A letter or digit of a script that sets its words apart. */
const wordCharacter = new RegExp(`^(?!${withoutSpaces.source})[\\p{L}\\p{M}\\p{N}]$`, 'u');

/** `1 item`, `2 items`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Remembered words in a list: backticks that would make the rest of it a code block are held apart by invisible joiners. */
export function withoutFences(text: string): string {
  return text.replace(/`(?=``)/gu, '`\u2060');
}

/** Longer than any item. */
const quotedMaxChars = 600;

/** Somebody's words inside an answer: one line, in quotation marks, clipped where they are very long. */
export function quoted(text: string, maxChars = quotedMaxChars): string {
  const line = withoutFences(flatten(text));
  return line.length <= maxChars ? `"${line}"` : `"${clip(line, maxChars - 1)}…"`;
}

/**
 * Whether a text says some words, and not only inside longer ones [K4]: literally, or each in another form, in this order. Case and marks aside [D2]; in scripts
 * written without spaces every run of characters counts.
 */
export function saysWords(text: string, words: string): boolean {
  const wanted = searchForm(words);
  if (standsApart(searchForm(text), wanted)) return true;
  // What is more than words, such as `C++`, has no other form.
  return /^[\p{L}\p{M}\p{N}\s.,'’-]+$/u.test(wanted) && hasSequence(terms(text), terms(wanted));
}

/** The same, literally only: marks count. */
export function saysLiterally(text: string, words: string): boolean {
  return standsApart(normalizeText(text), normalizeText(words));
}

/** Whether some words stand in a line, and not only inside longer ones; both in the same form. */
function standsApart(line: string, wanted: string): boolean {
  if (wanted === '') return false;
  for (let at = line.indexOf(wanted); at >= 0; at = line.indexOf(wanted, at + 1))
    if (isApart(line, at) && isApart(line, at + wanted.length)) return true;
  return false;
}

/** Whether no word goes on across a place in a text. */
function isApart(text: string, at: number): boolean {
  const before = Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? '';
  const after = String.fromCodePoint(text.codePointAt(at) ?? 32);
  return !wordCharacter.test(before) || !wordCharacter.test(after);
}

function hasSequence(all: readonly string[], wanted: readonly string[]): boolean {
  return (
    wanted.length > 0 && all.some((_, start) => wanted.every((term, index) => all[start + index] === term))
  );
}

const runs = new RegExp(
  `${withoutSpaces.source}+|(?:(?!${withoutSpaces.source})[\\p{L}\\p{M}\\p{N}])+`,
  'gu',
);

/**
 * The words of a text in any script, in order, as {@link searchForm} has them; runs of a script without spaces count as one. One that without its marks
 * would be a common word of another kind keeps them: `thé` is no `the`.
 */
export function wordsIn(text: string): readonly string[] {
  if (!/\P{ASCII}/u.test(text)) return text.toLowerCase().match(/[a-z\d]+/gu) ?? [];
  const written = normalizeText(text.replace(unseen, '')).match(runs) ?? [];
  return written.flatMap((word) => {
    const form = searchForm(word);
    return form !== word && commonWords.has(form) && !commonWords.has(word)
      ? [word]
      : (form.match(runs) ?? []);
  });
}

const commonWords: ReadonlySet<string> = new Set(`${fillers} ${othersAndDenials}`.split(/\s+/u));

/**
 * The terms of a text in any script, in order, repeated ones included: its words, stemmed; scripts written without spaces give their pairs of
 * characters, a lone character itself.
 */
export function terms(text: string): string[] {
  return wordsIn(text).flatMap((word) => (withoutSpaces.test(word) ? pairs(word) : [stem(word)]));
}

/** Stems of the words used last: to find one out takes far longer than to look it up. */
const stems = growingCache<string, string>(10_000);

/** A word's stem: English for Latin letters, Russian for Cyrillic, the word itself otherwise. */
function stem(word: string): string {
  const known = stems.get(word);
  if (known !== undefined) return known;
  const found = stemIn(word);
  stems.set(word, found);
  return found;
}

function stemIn(word: string): string {
  if (/^[a-z]+$/u.test(word)) return stemEnglish(word);
  if (/^[\p{Script=Cyrillic}]+$/u.test(word)) return stemRussian(word);
  return word;
}

function pairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(0, -1).map((character, index) => character + (characters[index + 1] ?? ''));
}

/** The data of a structured answer: servers without structured output answer inside a code fence, or with words around the object. @throws {SyntaxError} */
export function jsonIn(text: string): unknown {
  try {
    return parseJson(withoutFence(text));
  } catch (error) {
    const start = text.indexOf('{');
    if (start === -1) throw error;
    return parseJson(text.slice(start, text.lastIndexOf('}') + 1));
  }
}

export function withoutFence(text: string): string {
  const fenced = text.trim();
  const opening = /^```(?:json)?[^\S\n]*\n/u.exec(fenced)?.[0];
  const body = fenced.slice(opening?.length ?? 0);
  return opening !== undefined && body.endsWith('```') ? body.slice(0, -3).trimEnd() : text;
}

/** The items in parts of so many characters, and so many items, at most, in order; one that is longer than a part is one by itself. */
export function inParts<T>(
  items: readonly T[],
  lengthOf: (item: T) => number,
  maxChars: number,
  maxItems = Infinity,
): readonly (readonly T[])[] {
  const parts: T[][] = [];
  let room = 0;
  for (const item of items) {
    const length = lengthOf(item);
    const part = parts.at(-1);
    if (part === undefined || length > room || part.length === maxItems) {
      parts.push([item]);
      room = maxChars - length;
    } else {
      part.push(item);
      room -= length;
    }
  }
  return parts;
}
