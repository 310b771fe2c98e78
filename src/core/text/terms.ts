import { stemmer as stemEnglish } from '@orama/stemmers/english';
import { stemmer as stemRussian } from '@orama/stemmers/russian';

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
