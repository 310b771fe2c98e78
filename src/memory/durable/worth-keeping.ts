import { stopTerms, terms } from '../../core/text.ts';
import { contentWords, isQuestion, sentencesOf } from './evidence.ts';
import type { SaidDay } from './item-day.ts';

/** Sentences that were found in a message, and what stands around them. */
interface Found {
  readonly text: string;
  readonly message: string;
  /** The bot's question that they answer [D1a]. */
  readonly question: string | undefined;
  /** The day that they speak of [D7]. */
  readonly day: SaidDay | undefined;
  /** When they were said: `YYYY-MM-DD`, in the zone of `day`. */
  readonly today: string;
}

/**
 * Whether found sentences may matter in months, as far as that shows without knowing the language [A2]: the model is
 * asked for such only, and takes more.
 */
export function isWorthKeeping({ text, message, question, day, today }: Found): boolean {
  if (hasJoke.test(text) || holdsCode.test(message)) return false;
  if (day !== undefined && isOfTheseDays(day, today)) return false;
  const requests = sentencesOf(message).filter(({ segment }) => isQuestion(segment));
  // They may be the beginning of one.
  if (requests.some(({ segment }) => prepares(text, segment.replace(text, '')))) return false;
  // An answer may be one word.
  return question !== undefined || !isOutcry(text);
}

/** A syllable said three times, but no `www` or `III`, or a face that laughs: without this a joke is told back as a fact. */
const hasJoke = /(?<!\p{L})(?:(\p{L}\p{L}|\p{Script=Han})\1{2,}|(\p{L})\2{3,})|[😂🤣😹]|笑$/u;

/** Words around a block of code tell what is wrong with it: without this, `it returns the wrong sum`. */
const holdsCode = /^[ \t]*(?:```|~~~)/mu;

const monthMs = 31 * 24 * 60 * 60 * 1000;

/** Today or within a month before, in words that mean another day on another day: without this, yesterday's weather. */
function isOfTheseDays({ when, isCounted }: SaidDay, today: string): boolean {
  const passedMs = Date.parse(today) - Date.parse(when);
  return isCounted && passedMs >= 0 && passedMs <= monthMs;
}

const words = new Intl.Segmenter('en', { granularity: 'word' });

/** One word, a short exclamation, or nothing that means something: without this, `Good morning!` */
function isOutcry(text: string): boolean {
  const said = Array.from(words.segment(text)).filter(({ isWordLike }) => isWordLike === true);
  return (
    said.length <= 1 ||
    (said.length <= 2 && /[!！][^\p{L}!！]*$/u.test(text)) ||
    terms(text).every((term) => stopTerms.has(term))
  );
}

/** Whether the request is made of its weighty words: without this, how many columns the table has that is to be sorted. */
function prepares(text: string, request: string): boolean {
  const said = new Set(contentWords(text).filter(isWeighty));
  const asked = new Set(contentWords(request));
  const shared = [...said].filter((term) => asked.has(term)).length;
  return shared >= 2 && shared >= said.size / 3;
}

/** No article, pronoun or ending, of whatever language. */
function isWeighty(term: string): boolean {
  return /^[^\p{Script=Hiragana}]{4,}$|[\p{Script=Han}\p{Script=Katakana}]{2}/u.test(term);
}
