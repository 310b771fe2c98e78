import { ownWords, withShortNames } from '../../core/own-words.ts';
import { quotations, sentencesOf } from '../../core/sentences.ts';
import { clipAtWord, isQuestion, normalizeText, sameItemForm, toSingleLine } from '../../core/text.ts';
import type { WithdrawnMessage } from '../layer.ts';
import { questionMaxChars } from './document.ts';

/** Stands in a message's prose where whole lines were taken out: no quote goes across it. */
const gap = '\uFFFC';
/** Characters that stand for a mention, code or an emoji inside a sentence. */
const pieceSigns = /[\u{f0000}-\u{ffffd}]/gu;

/** What a message says in prose, and what it states there; pieces inside a sentence prove nothing, and stay as typed [D8]. */
function proseOf(message: string) {
  const pieces = new Map<string, string>();
  const keep = (piece: string): string => {
    const sign = String.fromCodePoint(0xf_00_00 + pieces.size);
    pieces.set(sign, withShortNames(piece));
    return sign;
  };
  const prose = ownWords(message, keep, gap);
  const statements = statementsOf(prose).map(({ text, ...place }) => {
    const typed = text.replace(pieceSigns, (sign) => pieces.get(sign) ?? sign);
    // Emoji before a sentence and behind it are left out.
    return { ...place, text: typed.replace(/^(?::\w{2,32}:\s*)+|(?<!\s)(?:\s*:\w{2,32}:)+$/gu, '') };
  });
  return { prose, statements };
}

/** What prompts tell of a marked moment [D8]: a quote may hold it. */
const momentsTold = /(?<=<t:[-\d:a-z]{1,14}>) \(\w{3} [\d-]{10} \d\d:\d\d\)/giu;

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
  const { prose, statements } = proseOf(message);
  const place = findQuote(quote.replace(momentsTold, ''), prose);
  if (place === undefined) return undefined;
  const touched = statements.filter(({ start, end }) => start < place.end && end > place.start);
  return touched.length === 0 ? undefined : touched.map(({ text }) => text).join(' ');
}

/**
 * Whether a message says, as whole sentences, what {@link sentencesQuoted} once took from it or from another one. Each
 * sentence is put into its form once, however many begin alike [L4].
 */
export function stillSays(text: string, message: string): boolean {
  const sought = sameItemForm(text);
  const statements = proseOf(message).statements.map((statement) => normalizeText(statement.text));
  const forms = statements.filter((form) => form !== '');
  const all = forms.join(' ');
  let start = 0;
  let end = -1;
  let ended = 0;
  for (const form of forms) {
    for (; end < start + sought.length && ended < forms.length; ended += 1)
      end += 1 + (forms[ended]?.length ?? 0);
    if (all.startsWith(sought, start) && sameItemForm(all.slice(start, end)) === sought) return true;
    start += form.length + 1;
  }
  return false;
}

/** Where a quote stands in a text, by {@link comparable} forms, which takes no expression of its length [L4]. */
function findQuote(quote: string, prose: string): Pick<Statement, 'start' | 'end'> | undefined {
  const words = comparable(quote.replace(/(?<![\s\p{P}])[\s\p{P}]+$/u, '').trimStart()).form;
  if (words === '') return undefined;
  const { form, places } = comparable(prose);
  const at = form.indexOf(words);
  if (at === -1) return undefined;
  return { start: places[at] ?? 0, end: places[at + words.length] ?? prose.length };
}

/** Case, the width of white space and the form of apostrophes aside, with the place of each sign in the text. */
function comparable(text: string): { readonly form: string; readonly places: readonly number[] } {
  const places: number[] = [];
  let form = '';
  for (const { 0: piece, index } of text.replaceAll(/[’‘]/gu, "'").matchAll(/\s+|\S/gu)) {
    const sign = piece.trim() === '' ? ' ' : piece.toUpperCase().toLowerCase();
    form += sign;
    for (let unit = 0; unit < sign.length; unit += 1) places.push(index);
  }
  return { form, places };
}

/** In characters from an answer's end: nobody asks at such length. */
const questionReach = 1000;

/** The question with which an answer of the bot ends [D1a], on one line; `undefined` where it ends otherwise. */
export function questionAtEnd(answer = ''): string | undefined {
  const end = answer.slice(-questionReach);
  const last = sentencesOf(end).findLast(({ segment }) => hasWords(segment))?.segment ?? '';
  return isQuestion(last) ? clipAtWord(toSingleLine(last), questionMaxChars) : undefined;
}

/** Whether these messages ask a question of the bot's [D1a]: each is read once, and only if there is one to look for [L4]. */
export function askedIn(messages: readonly WithdrawnMessage[]): (question: string | undefined) => boolean {
  let questions: ReadonlySet<string | undefined> | undefined;
  return (question) => {
    if (question === undefined) return false;
    questions ??= new Set(
      messages.map(({ before }) => (before.role === 'assistant' ? questionAtEnd(before.text) : undefined)),
    );
    return questions.has(question);
  };
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
      // Whom it is addressed to does not belong to what it says.
      .replace(/^(?:[\u{f0000}-\u{ffffd}]\s*)*[,;:]\s*/u, '');
    return [{ text, start, end: start + stated.length }];
  });
}

function hasWords(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
