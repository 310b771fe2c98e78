import { normalizeText } from '../../core/text.ts';
import type { RankingWeights } from './ranking-weights.ts';
import type { RecallQuery } from './recall-query.ts';
import type { TermReader } from './term-reader.ts';
import { compareHits } from './top-hits.ts';
import type { Hit } from './top-hits.ts';

/** How far apart two words of a pair may stand. */
const reach = 2;

/** Looks closer at the best hits: words of the query side by side, and the query word for word, count more. */
export function rerank(
  hits: readonly Hit[],
  query: RecallQuery,
  reader: TermReader,
  weights: RankingWeights,
): readonly Hit[] {
  const pairs = pairsOf(query);
  const best = hits[0]?.score ?? 0;
  const isPhrase = query.words.length > 1;
  if (pairs.length === 0 && !isPhrase) return hits;
  return hits
    .map((hit) => {
      const text = hit.segment.traits[hit.index]?.unit.text ?? '';
      const share = pairs.length === 0 ? 0 : pairShare(reader.read(text), pairs);
      const phrase = isPhrase && normalizeText(text).includes(query.text) ? weights.phrase : 0;
      return { ...hit, score: hit.score + best * (weights.pair * share + phrase) };
    })
    .toSorted(compareHits);
}

type Pair = readonly [string, string];

function pairsOf({ words, authorTerms }: RecallQuery): readonly Pair[] {
  return words.slice(1).flatMap((word, index): readonly Pair[] => {
    const before = words[index];
    if (before === undefined || before === word) return [];
    return authorTerms.has(before) || authorTerms.has(word) ? [] : [[before, word]];
  });
}

/** How many of the pairs stand in the text, as a share. */
function pairShare(terms: readonly string[], pairs: readonly Pair[]): number {
  const found = pairs.filter(([first, second]) =>
    terms.some((term, index) => term === first && terms.slice(index + 1, index + 1 + reach).includes(second)),
  );
  return found.length / pairs.length;
}
