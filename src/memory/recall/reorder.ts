import { featuresOf, type Features } from './features.ts';
import { compareHits, type Find } from './hits.ts';
import type { RecallQuery } from './query.ts';
import { rerank, type Ranking } from './rank.ts';
import { rankingWeights, type RankingWeights } from './score.ts';
import type { TermReader } from './words.ts';

/** Hits of a query that are put in order anew; the others follow as they are. */
const reordered = 60;

/** What each feature of a hit counts: fitted to conversations with known answers by `npm run bench:recall -- FILE… --fit`. */
export const orderWeights: OrderWeights = {
  score: 1.18,
  held: 1.89,
  heldRare: -1.77,
  several: 0.68,
  density: -3.11,
  densityRoot: 0.47,
  question: -0.91,
  stated: 1.44,
  answered: 1.29,
  meant: 1,
  number: 0.74,
  date: 3.11,
  time: 1,
  timeLength: -0.67,
  now: 1.31,
  heldInStretch: 1.49,
  bestInStretch: 1.52,
  hitsInStretch: -0.23,
  placeInStretch: -0.48,
  close: 1.11,
  begins: 0.57,
  ends: 0.57,
};

export type OrderWeights = Readonly<Record<keyof Features, number>>;

/** What counts how much: in finding hits, and in putting the best of them in order. */
export interface RecallWeights {
  readonly ranking: RankingWeights;
  readonly order: OrderWeights;
}

export const recallWeights: RecallWeights = { ranking: rankingWeights, order: orderWeights };

/** The hits of all sources for a query, best first, after a closer look at the best: their features, weighted and summed up, tell their order. */
export async function bestFirst(
  ranking: Ranking,
  query: RecallQuery,
  reader: TermReader,
  weights: RecallWeights,
): Promise<readonly Find[]> {
  const { hits, features } = await lookedAt(ranking, query, reader, weights.ranking);
  const ordered = hits.slice(0, features.length).map((hit, at) => {
    const of = features[at];
    return { hit, sum: of === undefined ? 0 : weighted(of, weights.order) };
  });
  ordered.sort((a, b) => b.sum - a.sum || compareHits(a.hit, b.hit));
  return [...ordered.map(({ hit }) => hit), ...hits.slice(features.length)];
}

/** The hits of all sources as they were found, best first, and the features of those that are put in order anew. */
export async function lookedAt(
  { perSource, rarities }: Ranking,
  query: RecallQuery,
  reader: TermReader,
  weights: RankingWeights,
): Promise<{ readonly hits: readonly Find[]; readonly features: readonly Features[] }> {
  const found = perSource.flat().toSorted(compareHits);
  const best = await rerank(found.slice(0, reordered), query, reader, weights);
  return { hits: [...best, ...found.slice(reordered)], features: featuresOf(best, query, rarities) };
}

export function weighted(features: Features, weights: OrderWeights): number {
  let sum = 0;
  for (const [name, weight] of Object.entries(weights)) sum += weight * features[name as keyof Features];
  return sum;
}
