import { terms } from '../../core/text.ts';
import type { DurableItem } from './durable-document.ts';
import { stopTerms } from './stop-words.ts';

/**
 * The items that share a word with the message, best first; equally good ones keep their order. Works in any script and
 * without a model [D4]; the rarer a word is among the items, the more it weighs.
 */
export function matchItems(items: readonly DurableItem[], message: string): readonly DurableItem[] {
  const wanted = contentTerms(message);
  const found = items.map((item) => ({ item, terms: contentTerms(item.text) }));
  const weights = new Map([...wanted].map((term) => [term, weightOf(term, found)]));
  return found
    .map((entry) => ({ item: entry.item, score: scoreOf(entry.terms, weights) }))
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map(({ item }) => item);
}

function contentTerms(text: string): ReadonlySet<string> {
  return new Set(terms(text).filter((term) => !stopTerms.has(term)));
}

function weightOf(term: string, found: readonly { readonly terms: ReadonlySet<string> }[]): number {
  const having = found.filter((entry) => entry.terms.has(term)).length;
  return having === 0 ? 0 : Math.log(1 + found.length / having);
}

function scoreOf(itemTerms: ReadonlySet<string>, weights: ReadonlyMap<string, number>): number {
  let score = 0;
  for (const term of itemTerms) score += weights.get(term) ?? 0;
  return score;
}
