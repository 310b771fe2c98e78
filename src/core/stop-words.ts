import { fillers, othersAndDenials } from './common-words.ts';
import { terms } from './text.ts';

/**
 * As `terms` gives them. Evidence ignores them [M5a], so none of them denies anything or stands for somebody: a
 * person's pronouns are a fact.
 */
export const fillerTerms: ReadonlySet<string> = new Set(terms(fillers));

/** Nothing can be found by these. */
export const stopTerms: ReadonlySet<string> = new Set([...fillerTerms, ...terms(othersAndDenials)]);
