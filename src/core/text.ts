import { stemmer as stemEnglish } from '@orama/stemmers/english';
import { stemmer as stemRussian } from '@orama/stemmers/russian';
import { distance } from 'fastest-levenshtein';

/** A few characters have a whole phrase as their compatible form. */
const mostAdded = 2000;

/** NFKC, or NFC where that grows out of proportion; runs of marks are parted, as sorting them is quadratic. */
export function nfkc(text: string): string {
  if (!/\P{ASCII}/u.test(text)) return text;
  const parted = text.replace(/\p{M}{30}/gu, '$&\u034f');
  const form = parted.normalize('NFKC');
  return form.length > 2 * parted.length + mostAdded ? parted.normalize('NFC') : form;
}

/** NFKC, case folded, white space collapsed, trimmed; accents, marks and signs count [D2]. */
export function normalizeText(text: string): string {
  if (!/\P{ASCII}/u.test(text)) return collapsed(text.toLowerCase());
  return collapsed(nfkc(foldCase(nfkc(text))));
}

/**
 * Texts of the same form are the same item [D2]: {@link normalizeText} without final `. ! …`, and without smileys and
 * faces behind the last word.
 */
export function sameItemForm(text: string): string {
  const form = normalizeText(text);
  let end = form.length;
  for (let cut = 1; cut > 0; end -= cut)
    cut = closingMarks.exec(form.slice(Math.max(0, end - closingMaxChars), end))?.[0].length ?? 0;
  return end === 0 ? form : form.slice(0, end);
}

const closingMaxChars = 12;
/** In {@link normalizeText}'s form; hands, hearts and flags may be what is said. */
const closingMarks =
  /(?:[ .!。]|(?<=[ .!。])(?:[:;=]['-]?[()dpo/|*3]|x+d|\^_?\^)|[☹☺😀-🙄🤐-🤗🤠-🤯🥰-🥺🧐🫠-🫩]\ufe0f?)$/u;

/**
 * The form in which words are found, however typed [D2]: {@link normalizeText} with plain letters, without marks that
 * people leave out. Offsets differ from the text's.
 */
export function searchForm(text: string): string {
  if (!/\P{ASCII}/u.test(text)) return collapsed(text.toLowerCase());
  const letters = nfkc(text)
    .normalize('NFD')
    .replace(markedLetter, (_, letter: string, marks: string) => {
      // Nobody leaves out the mark that makes another letter: `й` is no `и`, and stems rest on it.
      return /и/iu.test(letter) && marks.includes('\u0306') ? `${letter}\u0306` : letter;
    })
    .replace(unsaid, '');
  return collapsed(
    foldCase(letters)
      .replace(/[ıłđøæœ’ʼ]/gu, (letter) => plainLetters.get(letter) ?? letter)
      .normalize('NFC'),
  );
}

/** Full case folding: `ß` and `SS` are the same, and so are `σ` and `ς`; the dotless `ı` is no `i`. */
function foldCase(text: string): string {
  const parts = text.toLowerCase().split('ı');
  return parts
    .map((part) => part.toUpperCase().toLowerCase())
    .join('ı')
    .replaceAll('ς', 'σ');
}

/** Tatweel and the joiner that stretch or part a word of Arabic script, which people leave out. */
const unsaid = /[\u0640\u200c]/gu;

/** A decomposed letter with marks, in scripts where people leave these out. */
const markedLetter =
  /([\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\u0640])(\p{M}+)/gu;

/** Letters without a decomposition, and the apostrophes of phones, as people type them plain. */
const plainLetters: ReadonlyMap<string, string> = new Map(
  Object.entries({ ı: 'i', ł: 'l', đ: 'd', ø: 'o', æ: 'ae', œ: 'oe', '’': "'", ʼ: "'" }),
);

/** Single spaces are not replaced, which is faster. */
function collapsed(text: string): string {
  return text.replace(/[^\S ]\s*| \s+/gu, ' ').trim();
}

/** One line: control and invisible characters become a space or vanish, except joiners of scripts and emoji [P3]. */
export function toSingleLine(text: string): string {
  if (/^[ -~]*$/u.test(text)) return collapsed(text);
  const seen = text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return collapsed(seen.replace(/[^\P{Cf}\u200c\u200d]/gu, ''));
}

/** The same for several lines: tabs and line breaks stay. */
export function withoutInvisible(text: string): string {
  return text
    .toWellFormed()
    .replace(/(?:\r\n)+/gu, (breaks) => '\n'.repeat(breaks.length / 2))
    .replace(/[\r\p{Zl}\p{Zp}]+/gu, (breaks) => '\n'.repeat(breaks.length))
    .replace(/(?:[^\P{Cc}\n\t]|[^\P{Cf}\u200c\u200d])+/gu, '');
}

/** For a class of characters: what nobody sees, and what comes along with a text that is copied. */
export const unseen = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}`;
const unseenSigns = new RegExp(`[${unseen}]`, 'gu');
export const unseenStart = new RegExp(`^[\\s${unseen}]+`, 'u');

const nothingSeen = new RegExp(`^[\\s\\p{Cc}${unseen}]*$`, 'u');

export function isBlank(text: string): boolean {
  return nothingSeen.test(text);
}

const isPart = (sign: string) => !'<>[](){}`"\'“”„*.,:;!?'.includes(sign);

/** A word as it is meant, without brackets, quotes and full stops around it, and what nobody sees [K1]; `<#…>` stays. */
export function bareWord(written: string): string {
  if (/^<#\d+>$/u.test(written)) return written;
  const signs = Array.from(nfkc(written).replace(unseenSigns, ''));
  return signs.slice(signs.findIndex(isPart), signs.findLastIndex(isPart) + 1).join('');
}

/** The same of an id, as in `#1a2b3c4d`. */
export function bareId(written: string): string {
  return bareWord(written.replaceAll('#', ''));
}

/** Latin lookalikes of letters and digits, small and capital ones apart. */
const lookalikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аАαΑɑ', b: 'ВвΒβЬь', c: 'сСϲϹ', d: 'ԁ', e: 'еЕΕεєЄ', g: 'ɡԌ', h: 'һНнΗ', j: 'јЈ', k: 'кКΚκ', l: 'iI1|!ıіІιΙӀӏ', m: 'мМΜ', n: 'пΝη',
    o: 'оОοΟσ0', p: 'рРρΡ', q: 'ԛ', r: 'г', s: 'ѕЅ5$', t: 'тТΤτ', u: 'υц', v: 'ѵνѴ', w: 'ԝωш', x: 'хХχΧ', y: 'уУγΥ', z: 'Ζ',
  }).flatMap(([latin, others]) => Array.from(others).map((other) => [other, latin])),
); // prettier-ignore

/** The same for names that look alike, whatever their accents, case, spaces and alphabets. */
export function lookalike(name: string): string {
  const letters = Array.from(
    name.normalize('NFKD').replace(/[\p{M}\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\u{1d159}]/gu, ''),
  );
  return letters
    .map((letter) => lookalikes.get(letter) ?? letter)
    .join('')
    .toLowerCase()
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w');
}

/** Lone surrogates in values, which no request may hold, become U+FFFD; names of fields are left [S5]. */
export function wellFormed(data: unknown): unknown {
  if (typeof data === 'string') return data.toWellFormed();
  if (Array.isArray(data)) return data.map(wellFormed);
  if (typeof data !== 'object' || data === null) return data;
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, wellFormed(value)]));
}

/** Well-formed data from JSON [S5]. @throws {SyntaxError} */
export function parseJson(text: string): unknown {
  const data: unknown = JSON.parse(text);
  // A lone surrogate can only stand in a file as an escape.
  return text.includes(String.raw`\u`) && /\\ud[89a-f]/iu.test(text) ? wellFormed(data) : data;
}

export function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`);
}

const ellipsis = '…';

/** At most `max` UTF-16 units, as Discord and budgets count, never splitting a code point [P4]. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 0) return '';
  const last = text.charCodeAt(max - 1);
  const splitsPair = last >= 0xd8_00 && last <= 0xdb_ff;
  return text.slice(0, splitsPair ? max - 1 : max);
}

/** Clips at a word, marked by `…`, to at most `max` characters. */
export function clipAtWord(text: string, max: number): string {
  if (text.length <= max) return text;
  if (max <= 1) return clip(ellipsis, max);
  const head = clip(text, max - 1);
  const nextIsSpace = /^\s/u.test(text.slice(head.length));
  const cut = nextIsSpace ? -1 : head.search(/\s(?=\S*$)/u);
  return `${(cut > max / 3 ? head.slice(0, cut) : head).trimEnd()}${ellipsis}`;
}

/** Clips at a sentence, else at a word, to at most `max` characters. */
export function clipAtSentence(text: string, max: number): string {
  if (text.length <= max) return text;
  const head = clip(text, max);
  const ends = [...head.matchAll(/[.!?](?=\s|$)|[。！？]|\n/gu)];
  const end = ends.at(-1);
  if (end === undefined || end.index < max / 3) return clipAtWord(text, max);
  return head.slice(0, end.index + end[0].length).trimEnd();
}

/** Of scripts that do not part words by spaces. */
const unspacedScript =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** A letter or digit of a script that separates words. */
const wordCharacter = new RegExp(`^(?!${unspacedScript.source})[\\p{L}\\p{M}\\p{N}]$`, 'u');

/** `1 item`, `2 items`. */
export function amount(count: number): string {
  return count.toLocaleString('en-US');
}

/** US dollars. */
export function dollars(cost: number): string {
  return `$${cost.toFixed(cost > 0 && cost < 0.1 ? 4 : 2)}`;
}

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Keeps backticks from opening or ending a code block, by invisible joiners. */
export function withoutFences(text: string): string {
  return text.replace(/`(?=``)/gu, '`\u2060');
}

/** Signs of Discord's Markdown; links, mentions, moments and custom emoji are left as they are. */
const markdown =
  /https?:\/\/[^\s<>]+|<(?:https?:|[@#]|t:|a?:\w)[^<>\s]*>|[\\`*_~|]|\[(?=[^[\]]*\]\()|^[#>-](?=[#>\s])/gmu;

/** What people stored, in an answer, letter for letter [D8]; clipped to `maxChars` where it is longer. */
export function shownText(text: string, maxChars = Infinity): string {
  const shown = text.replace(markdown, (sign) => (sign.length === 1 ? `\\${sign}` : sign));
  return clipAtWord(shown, maxChars).replace(/\\…$/u, '…');
}

/** Longer than any item as it is shown. */
const quotedMaxChars = 1100;

/** Somebody's words inside an answer: one line in quotation marks, clipped. */
export function quoted(text: string, maxChars = quotedMaxChars): string {
  return `"${shownText(toSingleLine(text), maxChars)}"`;
}

/**
 * Whether a text says some words, not only inside longer ones [K4]: literally, or each in another form in this
 * order, ignoring case and marks [D2]; in scripts without spaces every run of characters counts.
 */
export function saysWords(text: string, words: string): boolean {
  const needle = searchForm(words);
  if (standsApart(searchForm(text), needle)) return true;
  // What is more than words, such as `C++`, has no other form.
  return /^[\p{L}\p{M}\p{N}\s.,'’-]+$/u.test(needle) && hasSequence(terms(text), terms(needle));
}

/** Both in the same form. */
function standsApart(line: string, needle: string): boolean {
  if (needle === '') return false;
  for (let at = line.indexOf(needle); at >= 0; at = line.indexOf(needle, at + 1))
    if (isApart(line, at) && isApart(line, at + needle.length)) return true;
  return false;
}

/** Whether no word continues across this index. */
function isApart(text: string, at: number): boolean {
  const before = Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? '';
  const after = String.fromCodePoint(text.codePointAt(at) ?? 32);
  return !wordCharacter.test(before) || !wordCharacter.test(after);
}

function hasSequence(all: readonly string[], needle: readonly string[]): boolean {
  return (
    needle.length > 0 && all.some((_, start) => needle.every((term, index) => all[start + index] === term))
  );
}

const runs = new RegExp(
  `${unspacedScript.source}+|(?:(?!${unspacedScript.source})[\\p{L}\\p{M}\\p{N}])+`,
  'gu',
);

/** The three names that come closest, as a whole or by what follows their last slash. */
export function nearestNames(written: string, names: readonly string[]): string {
  const needle = written.trim().toLowerCase();
  const far = (name: string): number => {
    const forms = [name, name.slice(name.lastIndexOf('/') + 1)].map((each) => each.toLowerCase());
    return forms[0]?.includes(needle) === true ? 0 : Math.min(...forms.map((each) => distance(each, needle)));
  };
  const nearest = names.toSorted((a, b) => far(a) - far(b)).slice(0, 3);
  return nearest.join(', ').replace(/, (?=[^,]*$)/u, ' or ');
}

/** Japanese and Chinese ask without a mark, too. */
const asksByWords =
  /(?:(?:です|ます|でした|ました|ません|でしょう|だろう|の)か|[ただ]っけ|[いうくぐすつぬぶむるただの何]か(?:な|しら)|(?:何|誰|どこ|なぜ|(?<![あこそ])いつ)だ?|[吗嗎])ね?[\s。.!！…~〜～]*$/u;

/** Whether it ends as a question; one letter behind the mark is a face, such as `:D`. Greek asks with a semicolon. */
export function isQuestion(sentence: string): boolean {
  const [, behind] = /[?？؟⁇⁈‽]([^?？؟⁇⁈‽]*)$/u.exec(sentence) ?? [];
  if (behind !== undefined) return !/^[\p{L}\p{N}]|[\p{L}\p{N}]{2}/u.test(behind);
  if (/[;\u037e]\s*$/u.test(sentence)) return /\p{Script=Greek}/u.test(sentence);
  return asksByWords.test(sentence);
}

/**
 * The words of a text in {@link searchForm}; a run of a script without spaces counts as one. A word keeps its
 * marks where it would otherwise be a common word: `thé` is no `the`.
 */
export function wordsIn(text: string): readonly string[] {
  if (!/\P{ASCII}/u.test(text)) return text.toLowerCase().match(/[a-z\d]+/gu) ?? [];
  const written = normalizeText(text.replace(unsaid, '')).match(runs) ?? [];
  return written.flatMap((word) => {
    const form = searchForm(word);
    return form !== word && commonWords.has(form) && !commonWords.has(word)
      ? [word]
      : (form.match(runs) ?? []);
  });
}

/** Stemmed words in order, repeats included; scripts without spaces give pairs of characters, or a lone one. */
export function terms(text: string): string[] {
  return wordsIn(text).flatMap((word) => (unspacedScript.test(word) ? pairs(word) : [stem(word)]));
}

/** English for Latin letters, Russian for Cyrillic, otherwise the word itself. */
function stem(word: string): string {
  if (/^\p{Script=Cyrillic}+$/u.test(word)) return stemRussian(word);
  if (!/^[a-z]+$/u.test(word)) return word;
  const found = stemEnglish(word);
  // The stemmer cuts `rejection` to `rejec`.
  return found + (/^([st])ions?$/u.exec(word.slice(found.length))?.[1] ?? '');
}

function pairs(run: string): string[] {
  const characters = Array.from(run);
  if (characters.length === 1) return characters;
  return characters.slice(0, -1).map((character, index) => character + (characters[index + 1] ?? ''));
}

/** The terms of a text that say something by themselves, repeats included. */
export function contentTerms(text: string): readonly string[] {
  return terms(text).filter((term) => !stopTerms.has(term));
}

/** Terms of the words with a digit, or with a capital that does not only begin the line. */
export function namesIn(line: string): readonly string[] {
  const words = line.replace(/^[^\p{L}\p{N}]+/u, '').split(' ');
  return words
    .filter((word, index) => /\p{N}/u.test(word) || (index > 0 && /\p{Lu}/u.test(word)))
    .flatMap(contentTerms);
}

/** Whether a text has words, none of which says by itself what is meant, such as "me" or "everything" [K4]. */
export function saysNothing(text: string): boolean {
  const found = terms(text);
  return found.length > 0 && found.every((term) => stopTerms.has(term) || talkTerms.has(term));
}

/** By the byte order mark, as editors save texts. */
export function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

export function withoutFence(text: string): string {
  const fenced = text.trim();
  const opening = /^```(?:json)?[^\S\n]*\n/u.exec(fenced)?.[0];
  const body = fenced.slice(opening?.length ?? 0);
  return opening !== undefined && body.endsWith('```') ? body.slice(0, -3).trimEnd() : text;
}

/** Groups items in order by characters and count; an overlong item is a group by itself. */
export function chunk<T>(
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

/** English and Russian words that say nothing by themselves. */
const commonWords: ReadonlySet<string> = new Set(
  `
  a an the this that these those
  i me my mine myself we us our ours you your yours he him his she her hers it its they them their theirs
  who whom whose which what where when why how
  am is are was were be been being do does did doing have has had having will would shall can could
  and or but if then than as so too also just no not nor never
  at by for from in into of off on onto out over per to up with about
  s t m d re ve ll
  here there please user speaker person
  я меня мне мной мой моя моё мое мои мы нас нам наш наша наше наши ты тебя тебе твой вы вас вам ваш
  он его ему она её ее ей они их им
  это этот эта эти тот та те то кто что где когда как какой который
  и или но а же ли бы в во на с со к ко у о об от до из за по при для про не ни нет
  есть был была было были быть буду будет пользователь
`.split(/\s+/u),
);

/** Nothing can be found by these [K4]. */
export const stopTerms: ReadonlySet<string> = new Set([...commonWords].flatMap(terms));

/** Words of talk that say nothing of its subject. */
export const talkTerms: ReadonlySet<string> = new Set(
  terms(`
    know remember tell told say said ask think please thank thanks again still ever thing something anything whats
    all everything знаешь помнишь скажи пожалуйста привет все всё обо
  `),
);
