import { featureNames, orderWeights, weighted, type OrderWeights } from '../../src/memory/recall/reorder.ts';
import { print } from './measured.ts';
import type { Conversation } from './recall-conversations.ts';
import { listHits, measuredOf, type Listed, type Measured } from './recall-evaluator.ts';

/** What the square of a weight costs: so few kinds of talk would be learnt by heart. */
const penalty = 0.03;
const steps = 100;
const stepSize = 0.2;
const momentum = 0.9;

/** The shares of a file's questions in percent, averaged over its questions. */
export interface Figures {
  readonly at5: number;
  readonly at10: number;
  readonly reciprocalRank: number;
}

export function figuresOf(measured: readonly Measured[]): Figures {
  const mean = (value: (of: Measured) => number): number =>
    (100 * measured.reduce((sum, one) => sum + value(one), 0)) / Math.max(1, measured.length);
  return {
    at5: mean(({ at5 }) => at5),
    at10: mean(({ at10 }) => at10),
    reciprocalRank: mean(({ reciprocalRank }) => reciprocalRank),
  };
}

/**
 * Fits what the features of hits count, and tells how much of that is chance: each file, which is a kind of talk, is measured by weights that
 * were fitted to the others. Deterministic. How hits are found is left as it stands: its weights are round numbers that no fit has seen.
 */
export async function fitRecall(conversations: readonly Conversation[]): Promise<void> {
  const listed = await listHits(conversations);
  const asFound = listed.map(({ conversation, question, ids }) => measuredOf(conversation, question, ids));
  tell('as they are found', asFound);
  const ordered = (weights: OrderWeights, ofThese = listed) => ofThese.map((one) => inOrder(one, weights));
  tell('with the present weights', ordered(orderWeights));
  const fitted = fitOrder(listed);
  tell('fitted to all', ordered(fitted));
  print(JSON.stringify(fitted));
  const files = [...new Set(conversations.map(({ file }) => file))];
  const leftOut = files.flatMap((file) => {
    const weights = fitOrder(listed.filter(({ conversation }) => conversation.file !== file));
    return ordered(
      weights,
      listed.filter(({ conversation }) => conversation.file === file),
    );
  });
  if (files.length > 1) tell('each by weights fitted to the others', leftOut);
}

function inOrder({ conversation, question, ids, features }: Listed, weights: OrderWeights): Measured {
  const sums = features.map((of) => weighted(of, weights));
  const order = [...ids.keys()].toSorted((a, b) => (sums[b] ?? -Infinity) - (sums[a] ?? -Infinity) || a - b);
  return measuredOf(
    conversation,
    question,
    order.map((at) => ids[at] ?? ''),
  );
}

function tell(title: string, measured: readonly Measured[]): void {
  print(`${title.padEnd(40)}    R@5   R@10    MRR`);
  for (const file of new Set(measured.map(({ conversation }) => conversation.file))) {
    const { at5, at10, reciprocalRank } = figuresOf(
      measured.filter(({ conversation }) => conversation.file === file),
    );
    const figures = [at5, at10, reciprocalRank].map((value) => value.toFixed(1).padStart(6));
    print(`${file.padEnd(40)} ${figures.join(' ')}`);
  }
}

/** A thing that an answer needs: the features of the hits of a question that say it, before those of hits that say nothing of the answer. */
interface Wanted {
  readonly rows: readonly Float64Array[];
  /** How many say it. */
  readonly saying: number;
  readonly weight: number;
}

/**
 * Weights by which what answers need comes before all else: of each thing that is needed, the logarithm of its chance against the other hits
 * (softmax) is made as large as can be, less the penalty. None is below 0: what counts against a hit in one kind of talk counts for it in
 * another. Each file counts by the root of the number of its questions.
 */
function fitOrder(listed: readonly Listed[]): OrderWeights {
  const wanted = wantedOf(listed);
  const all = wanted.reduce((sum, { weight }) => sum + weight, 0);
  const weights = new Float64Array(featureNames.length);
  const speed = new Float64Array(featureNames.length);
  for (let step = 0; step < steps; step += 1) {
    const slope = weights.map((weight) => -2 * penalty * weight);
    for (const one of wanted) addSlope(slope, weights, one, one.weight / all);
    for (const [at, by] of slope.entries()) {
      speed[at] = momentum * (speed[at] ?? 0) + stepSize * by;
      weights[at] = Math.max(0, (weights[at] ?? 0) + (speed[at] ?? 0));
    }
  }
  const named = featureNames.map((name, at) => [name, Number((weights[at] ?? 0).toFixed(2))] as const);
  return { ...orderWeights, ...Object.fromEntries(named) };
}

/** Adds what a small change of each weight would do to the chance of one thing that is needed. */
function addSlope(slope: Float64Array, weights: Float64Array, { rows, saying }: Wanted, share: number): void {
  const odds = rows.map((row) => {
    let sum = 0;
    for (let at = 0; at < row.length; at += 1) sum += (row[at] ?? 0) * (weights[at] ?? 0);
    return Math.exp(sum);
  });
  const total = odds.reduce((sum, each) => sum + each, 0);
  const ofSaying = odds.slice(0, saying).reduce((sum, each) => sum + each, 0);
  for (const [hit, row] of rows.entries()) {
    const by = share * (odds[hit] ?? 0) * ((hit < saying ? 1 / ofSaying : 0) - 1 / total);
    for (let at = 0; at < row.length; at += 1) slope[at] = (slope[at] ?? 0) + by * (row[at] ?? 0);
  }
}

function wantedOf(listed: readonly Listed[]): readonly Wanted[] {
  return listed.flatMap(({ conversation, question: { gold }, ids, features }) => {
    const asked = listed.filter((other) => other.conversation.file === conversation.file).length;
    const needed = new Set(gold.flat());
    const rows = features.map((of) => Float64Array.from(featureNames, (name) => of[name]));
    const others = rows.filter((_, at) => !needed.has(ids[at] ?? ''));
    return gold.flatMap((some) => {
      const says = rows.filter((_, at) => some.includes(ids[at] ?? ''));
      const weight = 1 / gold.length / Math.sqrt(asked);
      return says.length === 0 ? [] : [{ rows: [...says, ...others], saying: says.length, weight }];
    });
  });
}
