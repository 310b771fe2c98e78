import { LRUCache } from 'lru-cache';

import { terms } from '../../core/text.ts';
import { stopTerms } from '../../core/stop-words.ts';
import { baseForms } from './irregular-words.ts';

const keptWords = 50_000;
const words = /[\p{L}\p{M}\p{N}]+/gu;
const interjections = new Set(terms('hey hi hello wow yeah oh ok okay really ну да ага'));

/** Reads texts as the terms that recall goes by; remembers the stems of words, which is where the time goes. */
export class TermReader {
  // With `max` instead it would take the room for all of them at once.
  readonly #known = new LRUCache<string, readonly string[]>({
    maxSize: keptWords,
    sizeCalculation: () => 1,
  });

  /** The terms in order, repeated ones included: stemmed, irregular forms by their base form, words that say nothing left out. */
  read(text: string): string[] {
    const found = text.normalize('NFKC').toLowerCase().match(words);
    return found === null ? [] : found.flatMap((word) => this.#termsOf(word));
  }

  #termsOf(word: string): readonly string[] {
    const known = this.#known.get(word);
    if (known !== undefined) return known;
    const found = terms(baseForms.get(word) ?? word).filter(
      (term) => !stopTerms.has(term) && !interjections.has(term),
    );
    this.#known.set(word, found);
    return found;
  }
}
