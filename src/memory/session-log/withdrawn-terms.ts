import { terms } from '../../core/text/terms.ts';
import { stopTerms } from '../durable/stop-words.ts';

/** The words that a text said and does not say any more, stemmed; all of them where it is gone. Words that tell nothing are left out. */
export function withdrawnTerms(before: string, now: string = ''): ReadonlySet<string> {
  const present = new Set(terms(now));
  return new Set(terms(before).filter((term) => !present.has(term) && !stopTerms.has(term)));
}

/** Whether a text says any of the words. */
export function saysAny(text: string, wanted: ReadonlySet<string>): boolean {
  return wanted.size > 0 && terms(text).some((term) => wanted.has(term));
}
