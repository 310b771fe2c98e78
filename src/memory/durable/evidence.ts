import { ownWords } from '../../core/own-words.ts';
import {
  clipAtWord,
  escapePattern,
  fillerTerms,
  sameItemForm,
  terms,
  toSingleLine,
} from '../../core/text.ts';
import type { WithdrawnMessage } from '../layer.ts';
import { questionMaxChars } from './document.ts';

/** Unicode's rules for sentences, which are the same for all languages and know no abbreviations. */
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** What somebody quotes or crosses out in the run of their text, with the white space behind it. */
const quotations =
  /(?:~~[^~]*~~|"[^"]*"|“[^“”]*”|„[^„“”]*[“”]|‘[^‘’]*’|«[^«»]*»|»[^«»]*«|「[^「」]*」|『[^『』]*』)\s*/gu;

/** What ends no sentence: dots, abbreviations (one letter, no vowel, or a title), an address, a line that leads on. */
const unending = [
  /(?:\.\.|(?<![\p{L}\p{M}\p{N}])(?:(?!\p{Script=Hangul})\p{L}|[bcdfghjklmnpqrstvwxzбвгджзклмнпрстфхцчшщ]{2,4}|prof|sra|srta|dra|ing|inż|rev|डॉ|ดร)\.)[^\S\n]*$/iu,
  /(?<![^\n])\d{1,3}\.[^\S\n]*$/u,
  /[?!]$/u,
  /[,:;，：；、،؛]\s*$/u,
];

/** A line that leads to a list belongs to each of its lines. */
const listItem = /^\s*(?:[-*•–]|\d{1,3}[.)])\s/u;
const listBegins = /[:：]\s*\n/u;

/** Stands in a message's prose where something was taken out: no quote goes across it. */
const gap = '\uFFFC';

/** What a sentence states, and where it stands in the prose. */
interface Statement {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The whole sentences of a message that a quote touches [M5a], so that no piece can be cut to mean something else.
 * The quote stands literally in the author's own prose: case, final punctuation, the form of apostrophes and the
 * width of white space aside. `undefined` where it does not, or touches nothing that states something.
 */
export function sentencesQuoted(quote: string, message: string): string | undefined {
  const prose = ownWords(message, gap);
  const place = findQuote(quote, prose);
  if (place === undefined) return undefined;
  const touched = statementsOf(prose).filter(({ start, end }) => start < place.end && end > place.start);
  return touched.length === 0 ? undefined : touched.map(({ text }) => text).join(' ');
}

/** Whether a message says, as whole sentences, what {@link sentencesQuoted} once took from it or from another one. */
export function stillSays(text: string, message: string): boolean {
  const wanted = sameItemForm(text);
  const statements = statementsOf(ownWords(message, gap));
  return statements.some((_, first) => {
    let said = '';
    for (const statement of statements.slice(first)) {
      said = said === '' ? statement.text : `${said} ${statement.text}`;
      if (sameItemForm(said) === wanted) return true;
      if (said.length > 2 * text.length) return false;
    }
    return false;
  });
}

/** Where a quote stands in a text; any run of white space matches any other, and so does any apostrophe. */
function findQuote(quote: string, prose: string): Pick<Statement, 'start' | 'end'> | undefined {
  const words = quote.replace(/(?<![\s\p{P}])[\s\p{P}]+$/u, '').trimStart();
  if (words === '') return undefined;
  const pattern = new RegExp(
    words
      .split(/\s+/u)
      .map(escapePattern)
      .join(String.raw`\s+`)
      .replace(/['’‘]/gu, "['’‘]"),
    'iu',
  );
  const found = pattern.exec(prose);
  return found === null ? undefined : { start: found.index, end: found.index + found[0].length };
}

/** The sentences of a text, by Unicode's rules and ours: none ends within a quotation or right behind it. */
export function sentencesOf(text: string): readonly { readonly segment: string; readonly index: number }[] {
  const quoted = Array.from(text.matchAll(quotations), ({ 0: { length }, index }) => ({
    start: index,
    end: index + length,
  }));
  const sentences: { segment: string; index: number }[] = [];
  for (const { segment, index } of segmenter.segment(text)) {
    const before = sentences.at(-1);
    const isQuoted = quoted.some(({ start, end }) => start < index && index <= end);
    if (before !== undefined && (isQuoted || goesOn(before.segment, segment))) before.segment += segment;
    else sentences.push({ segment, index });
  }
  return sentences;
}

/** Whether a sentence goes on in what Unicode takes for the next one. */
function goesOn(sentence: string, next: string): boolean {
  if (listItem.test(next) && listBegins.test(sentence)) return true;
  return unending.some((each) => each.test(sentence));
}

/** The question with which an answer of the bot ends [D1a], on one line; `undefined` where it ends otherwise. */
export function questionAtEnd(answer = ''): string | undefined {
  const last = sentencesOf(answer).findLast(({ segment }) => hasWords(segment))?.segment ?? '';
  return isQuestion(last) ? clipAtWord(toSingleLine(last), questionMaxChars) : undefined;
}

/** Whether one of these messages is the answer that asked an item's question [D1a]. */
export function asksAny(messages: readonly WithdrawnMessage[], question: string | undefined): boolean {
  if (question === undefined) return false;
  return messages.some(
    ({ before }) => before.role === 'assistant' && questionAtEnd(before.text) === question,
  );
}

/** Whether it ends as a question; one letter behind the mark is a face, such as `:D`. Greek asks with a semicolon. */
export function isQuestion(sentence: string): boolean {
  const [, behind] = /[?？؟⁇⁈‽]([^?？؟⁇⁈‽]*)$/u.exec(sentence) ?? [];
  if (behind !== undefined) return !/^[\p{L}\p{N}]|[\p{L}\p{N}]{2}/u.test(behind);
  return /[;\u037e]\s*$/u.test(sentence) && /\p{Script=Greek}/u.test(sentence);
}

/** What a prose states: of a question what precedes its last comma, of what is a quotation alone nothing. */
function statementsOf(prose: string): readonly Statement[] {
  return sentencesOf(prose).flatMap(({ segment, index: start }) => {
    const stated = isQuestion(segment) ? (/^[^]*(?=[,，、،])/u.exec(segment)?.[0] ?? '') : segment;
    if (!hasWords(stated.replace(quotations, ''))) return [];
    const parts = stated.split(gap).map((part) => part.trim().replaceAll('\n', ' '));
    const text = parts
      .filter(hasWords)
      .join(' … ')
      .replace(/^[,;:]\s*/u, '');
    return [{ text, start, end: start + stated.length }];
  });
}

function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

export const unspacedScript =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** The words of a text that carry its meaning, as terms. */
export function contentWords(text: string): readonly string[] {
  return terms(text).filter((term) => !fillerTerms.has(term));
}

/** The terms of a message; of scripts without spaces the single characters too, since an item may be one of them. */
export function termsSaid(message: string): ReadonlySet<string> {
  const said = terms(message);
  return new Set([...said, ...said.flatMap((term) => (unspacedScript.test(term) ? Array.from(term) : []))]);
}
