import { ownWords } from '../../core/own-words.ts';
import { fillerTerms } from '../../core/stop-words.ts';
import { clipAtWord, escapePattern, toSingleLine, sameItemForm, terms } from '../../core/text.ts';
import { questionMaxChars } from './document.ts';

/** Unicode's rules for sentences; `en` adds English abbreviations and serves other languages too. */
const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Stands in a message's prose where something was taken out: no quote goes across it. */
const gap = '\uFFFC';

/** What a sentence states, and where it stands in the prose. */
interface Statement {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The whole sentences of a message that a quote touches [M5a], so that no piece can be cut to mean something else. The quote stands literally in the
 * author's own prose: case, final punctuation and the width of white space aside. `undefined` where it does not, or touches nothing but questions.
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

/** Where a quote stands in a text; any run of white space matches any other. */
function findQuote(quote: string, prose: string): Pick<Statement, 'start' | 'end'> | undefined {
  const words = quote.replace(/(?<![\s\p{P}])[\s\p{P}]+$/u, '').trimStart();
  if (words === '') return undefined;
  const pattern = new RegExp(
    words
      .split(/\s+/u)
      .map(escapePattern)
      .join(String.raw`\s+`),
    'iu',
  );
  const found = pattern.exec(prose);
  return found === null ? undefined : { start: found.index, end: found.index + found[0].length };
}

/** The question with which an answer of the bot ends [D1a], on one line; `undefined` where it ends otherwise. */
export function questionAtEnd(answer = ''): string | undefined {
  const last = Array.from(segmenter.segment(answer.trim())).at(-1)?.segment ?? '';
  return isQuestion(last) ? clipAtWord(toSingleLine(last), questionMaxChars) : undefined;
}

function isQuestion(sentence: string): boolean {
  return /[?？؟⁇⁈‽]/u.test(/(?<![\p{P}\p{S}\s])[\p{P}\p{S}\s]+$/u.exec(sentence)?.[0] ?? '');
}

/** The sentences of a prose as far as they state something: of a question what precedes its last comma. */
function statementsOf(prose: string): readonly Statement[] {
  return Array.from(segmenter.segment(prose)).flatMap(({ segment, index: start }) => {
    const stated = isQuestion(segment) ? (/^[^]*(?=[,，、،])/u.exec(segment)?.[0] ?? '') : segment;
    const parts = stated.split(gap).map((part) => part.trim());
    const text = parts
      .filter((part) => /[\p{L}\p{N}]/u.test(part))
      .join(' … ')
      .replace(/^[,;:]\s*/u, '');
    return text === '' ? [] : [{ text, start, end: start + stated.length }];
  });
}

const unspacedScript =
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
