import { searchForm } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import { featuresOf, type Features } from './features.ts';
import { compareHits, type Find } from './hits.ts';
import type { RecallQuery } from './query.ts';
import type { Ranking } from './rank.ts';
import { rankingWeights, type RankingWeights } from './score.ts';
import type { RecallUnit } from './segments.ts';
import type { TermReader } from './words.ts';

/** The best hits of a query are reordered; the others follow as they are. */
export const mostReordered = 60;

/** Quoting so many words of the query outweighs any sum of features. */
const minVerbatim = 4;
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
  const { hits, features, quoting } = await lookedAt(ranking, query, reader, weights.ranking);
  const isQuote = query.words.length >= minVerbatim;
  const sums = features.map((of, at) => {
    const unit = hits[at]?.unit;
    return weighted(of, weights.order) + (isQuote && unit !== undefined && quoting.has(unit) ? verbatim : 0);
  });
  const best = Math.max(...sums);
  const ordered = hits.map((hit, at) => {
    const sum = sums[at];
    return { ...hit, score: sum === undefined ? 0 : Math.exp((sum - best) / caution) };
  });
  const reordered = ordered.slice(0, features.length).toSorted(compareHits);
  return [...reordered, ...ordered.slice(features.length)];
}

/**
 * The hits of all sources as found, best first: those to be reordered with their features, and which of them
 * are `quoting` the query word for word.
 */
export async function lookedAt(
  { perSource, rarities }: Ranking,
  query: RecallQuery,
  reader: TermReader,
  weights: RankingWeights,
): Promise<{
  readonly hits: readonly Find[];
  readonly features: readonly Features[];
  readonly quoting: ReadonlySet<RecallUnit>;
}> {
  const pause = createTimeSlice();
  const found = perSource.flat().toSorted(compareHits);
  const best = found[0]?.score ?? 0;
  const quoting = new Set<RecallUnit>();
  const looked: Find[] = [];
  for (const hit of found.slice(0, mostReordered)) {
    const isQuoting = query.words.length > 1 && searchForm(hit.unit.text).includes(query.text);
    if (isQuoting) quoting.add(hit.unit);
    const terms = query.pairs.length > 0 ? reader.read(hit.unit.text) : [];
    const held = query.pairs.filter((pair) => hasPair(terms, pair)).length;
    const share = held / Math.max(1, query.pairs.length);
    const more = weights.pair * share + (isQuoting ? weights.phrase : 0);
    looked.push({ ...hit, score: hit.score + best * more });
    await pause();
  }
  looked.sort(compareHits);
  const features = featuresOf(looked, query, rarities);
  return { hits: [...looked, ...found.slice(mostReordered)], features, quoting };
}

/** Whether the words of a pair stand next to each other, or with one between them. */
function hasPair(terms: readonly string[], [one, other]: readonly [string, string]): boolean {
  return terms.some((term, at) => term === one && (terms[at + 1] === other || terms[at + 2] === other));
}

export function weighted(features: Features, weights: OrderWeights): number {
  let sum = 0;
  for (const name of featureNames) sum += weights[name] * features[name];
  return sum;
}
