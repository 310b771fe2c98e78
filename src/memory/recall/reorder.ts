import { featuresOf, type Features } from './features.ts';
import { compareHits, type Find } from './hits.ts';
import type { RecallQuery } from './query.ts';
import { rerank, type Ranking } from './rank.ts';
import { rankingWeights, type RankingWeights } from './score.ts';
import type { TermReader } from './words.ts';

/** The best hits of a query are reordered; the others follow as they are. */
export const mostReordered = 60;

/** A verbatim match outweighs any sum of features. */
const verbatim = 20;

/** Divides log odds: several wordings of one question are alike, so each counts less. */
const caution = 3;

/** Fitted to conversations with known answers by `npm run bench:recall -- FILE… --fit`. */
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

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are all of its names
const featureNames = Object.keys(orderWeights) as readonly (keyof Features)[];

/** For finding hits, and for ordering the best. */
export interface RecallWeights {
  readonly ranking: RankingWeights;
  readonly order: OrderWeights;
}

export const recallWeights: RecallWeights = { ranking: rankingWeights, order: orderWeights };

/**
 * The hits of all sources for a query, best first: weighted features order the best, and give each its odds
 * relative to the first as its score.
 */
export async function bestFirst(
  ranking: Ranking,
  query: RecallQuery,
  reader: TermReader,
  weights: RecallWeights,
): Promise<readonly Find[]> {
  const { hits, features } = await lookedAt(ranking, query, reader, weights.ranking);
  const sums = features.map(
    (of, at) => weighted(of, weights.order) + (hits[at]?.isVerbatim === true ? verbatim : 0),
  );
  const best = Math.max(...sums);
  const ordered = hits.map((hit, at) => {
    const sum = sums[at];
    return { ...hit, score: sum === undefined ? 0 : Math.exp((sum - best) / caution) };
  });
  const reordered = ordered.slice(0, features.length).toSorted(compareHits);
  return [...reordered, ...ordered.slice(features.length)];
}

/** The hits of all sources as found, best first, with features of those to be reordered. */
export async function lookedAt(
  { perSource, rarities }: Ranking,
  query: RecallQuery,
  reader: TermReader,
  weights: RankingWeights,
): Promise<{ readonly hits: readonly Find[]; readonly features: readonly Features[] }> {
  const found = perSource.flat().toSorted(compareHits);
  const best = await rerank(found.slice(0, mostReordered), query, reader, weights);
  return { hits: [...best, ...found.slice(mostReordered)], features: featuresOf(best, query, rarities) };
}

export function weighted(features: Features, weights: OrderWeights): number {
  let sum = 0;
  for (const name of featureNames) sum += weights[name] * features[name];
  return sum;
}
