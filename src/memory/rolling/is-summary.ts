import { contentTerms, namesIn } from '../../core/text.ts';
import type { LoggedMessage } from '../log/records.ts';

/** Fewer names may all be dropped. */
const fewNames = 4;

/**
 * Whether an answer can be the summary of what was said [R2]. A refusal, a greeting or an order repeated, in whatever
 * language, shares hardly a word with it; and a summary that takes the place of another keeps most names and numbers
 * of those sentences that nothing new speaks about.
 */
export function isSummary(
  answer: string,
  before: string,
  turns: readonly Pick<LoggedMessage, 'role' | 'text'>[],
): boolean {
  const words = wordsOf(answer);
  const names = namesOf(answer);
  const spoken = turns.filter(({ role }) => role === 'user');
  const source = wordsOf([before, ...spoken.map(({ text }) => text)].join('\n'));
  // Another script tells nothing but whether something is named at all.
  if (isLatin(words) !== isLatin(source)) return names.size > 1 || source.size === 0;
  const shared = [...words].filter((word) => source.has(word));
  const weight = shared.length + shared.filter((word) => names.has(word)).length;
  // Of little that was said a third is enough; in much some stand by chance.
  if (weight < Math.floor(Math.min(source.size / 3, 3 + source.size / 100, 5))) return false;
  const news = wordsOf(turns.map(({ text }) => text).join('\n'));
  const standing = sentencesOf(before).filter((each) => ![...wordsOf(each)].some((word) => news.has(word)));
  const old = [...namesOf(standing.join('\n'))];
  return old.length < fewNames || old.filter((name) => words.has(name)).length * 2 >= old.length;
}

function sentencesOf(text: string): readonly string[] {
  return text.split(/(?<=[.!?])\s+|(?<=[。！？])|\n/u);
}

/** Words that mean something in any language, by their beginning, and names. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = contentTerms(text).filter((term) => telling.test(term));
  return new Set([...words.map(stemOf), ...namesOf(text)]);
}

/** Names and numbers; in scripts without capitals all words may be names. */
function namesOf(text: string): ReadonlySet<string> {
  const caseless = contentTerms(text).filter((term) => /\p{Lo}/u.test(term));
  const names = [...sentencesOf(text).flatMap(namesIn), ...caseless];
  return new Set(names.filter((term) => telling.test(term) || /^\P{Lo}{2,}$/u.test(term)).map(stemOf));
}

/** No article, pronoun or ending, nor a digit. */
const telling =
  /^[^\p{Script=Hiragana}]{4,}$|^[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]{2,}$|\p{N}./u;

const stemOf = (term: string): string => term.slice(0, 5);

function isLatin(words: ReadonlySet<string>): boolean {
  return [...words].filter((word) => /^[^a-z\d]/u.test(word)).length * 2 <= words.size;
}
