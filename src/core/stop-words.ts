import { fillers, othersAndDenials } from './common-words.ts';
import { terms } from './text.ts';

/**
 * Words that say nothing by themselves, as `terms` gives them: articles, prepositions, auxiliaries. Evidence sets them aside
 * [M5a], so none of them denies anything, and none stands for somebody: a person's pronouns are a fact.
 */
export const fillerTerms: ReadonlySet<string> = new Set(terms(fillers));

/** Words by which nothing can be found, as `terms` gives them. */
export const stopTerms: ReadonlySet<string> = new Set([...fillerTerms, ...terms(othersAndDenials)]);
