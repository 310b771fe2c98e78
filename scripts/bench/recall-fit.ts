import { orderWeights, weighted, type Features, type OrderWeights } from '../../src/memory/recall/reorder.ts';
import { print } from './measured.ts';
import type { Conversation } from './recall-conversations.ts';
import { listHits, measuredOf, type Listed, type Measured } from './recall-evaluator.ts';

/** What a weight costs that is not 0: so few conversations would be learnt by heart. */
const penalty = 0.01;
/** Hits before the one that is needed which count as nothing lost: it is among the first ten then, mostly. */
const tolerated = 5;
const steps = 200;
const stepSize = 0.4;
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
 * Fits what the features of hits count, and tells how much of that is chance: each conversation is measured by weights that were fitted to all
 * others. Deterministic. How hits are found is left as it stands: its weights are round numbers that no fit has seen.
 */
export async function fitRecall(conversations: readonly Conversation[], leaveOut: boolean): Promise<void> {
  const listed = await listHits(conversations);
  const ordered = (weights: OrderWeights) => listed.map((one) => inOrder(one, weights));
  tell(
    'as they are found',
    listed.map(({ conversation, question, ids }) => measuredOf(conversation, question, ids)),
  );
  tell('with the present weights', ordered(orderWeights));
  const fitted = fitOrder(listed);
  tell('fitted to all', ordered(fitted));
  print(JSON.stringify(fitted));
  if (!leaveOut) return;
  const left: Measured[] = [];
  for (const conversation of conversations) {
    const weights = fitOrder(listed.filter((one) => one.conversation !== conversation));
    const ofOne = listed
      .filter((one) => one.conversation === conversation)
      .map((one) => inOrder(one, weights));
    print(line(conversation.id.slice(0, 40), ofOne));
    left.push(...ofOne);
  }
  tell('each fitted to all others', left);
  tellEach(left, ({ question }) => question.kind);
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
  tellEach(measured, ({ conversation }) => conversation.file);
}

function tellEach(measured: readonly Measured[], nameOf: (one: Measured) => string): void {
  for (const name of new Set(measured.map(nameOf))) {
    const named = measured.filter((one) => nameOf(one) === name);
    print(line(name, named));
  }
}

function line(name: string, measured: readonly Measured[]): string {
  const { at5, at10, reciprocalRank } = figuresOf(measured);
  return `${name.padEnd(40)} ${[at5, at10, reciprocalRank].map((value) => value.toFixed(2).padStart(6)).join(' ')}`;
}

/** A thing that an answer needs: the hits of a question that say it, and those that say nothing of the answer. */
interface Wanted {
  /** A row of standardised features for each hit. */
  readonly rows: readonly Float64Array[];
  readonly saying: readonly number[];
  readonly others: readonly number[];
  readonly weight: number;
}

/**
 * Weights by which what answers need comes before all else: of each thing that is needed, the logarithm of its chance against the other hits is
 * made as large as can be (softmax), less a penalty for large weights. Each file counts by the root of the number of its questions.
 */
function fitOrder(listed: readonly Listed[]): OrderWeights {
  const names = namesOf(orderWeights);
  const spreads = names.map((name) => spreadOf(listed, name));
  const wanted = wantedOf(listed, names, spreads);
  const all = wanted.reduce((sum, { weight }) => sum + weight, 0);
  const weights = new Float64Array(names.length);
  const speed = new Float64Array(names.length);
  for (let step = 0; step < steps; step += 1) {
    const slope = weights.map((weight) => -2 * penalty * weight);
    for (const one of wanted) addSlope(slope, weights, one, all);
    for (const [at, by] of slope.entries()) {
      speed[at] = momentum * (speed[at] ?? 0) + stepSize * (1 - momentum) * by;
      weights[at] = (weights[at] ?? 0) + (speed[at] ?? 0);
    }
  }
  const fitted = names.flatMap((name, at) => {
    const spread = spreads[at] ?? 0;
    // What never differs here stays as it stands.
    return spread === 0 ? [] : [[name, Number(((weights[at] ?? 0) / spread).toFixed(2))] as const];
  });
  return { ...orderWeights, ...Object.fromEntries(fitted) };
}

function namesOf(weights: OrderWeights): readonly (keyof Features)[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of a record without others
  return Object.keys(weights) as (keyof Features)[];
}

/** By how much a feature differs among a question's hits: the root of the mean square. */
function spreadOf(listed: readonly Listed[], name: keyof Features): number {
  let [sum, count] = [0, 0];
  for (const { features } of listed) {
    const mean = features.reduce((all, of) => all + of[name], 0) / Math.max(1, features.length);
    for (const of of features) sum += (of[name] - mean) ** 2;
    count += features.length;
  }
  return Math.sqrt(sum / Math.max(1, count));
}

function wantedOf(
  listed: readonly Listed[],
  names: readonly (keyof Features)[],
  spreads: readonly number[],
): readonly Wanted[] {
  const questions = new Map<string, number>();
  for (const { conversation } of listed)
    questions.set(conversation.file, (questions.get(conversation.file) ?? 0) + 1);
  return listed.flatMap(({ conversation, question: { gold }, ids, features }) => {
    const rows = features.map((of) => Float64Array.from(names, (name, at) => of[name] / (spreads[at] || 1)));
    const needed = new Set(gold.flat());
    const hits = [...features.keys()];
    const others = hits.filter((at) => !needed.has(ids[at] ?? ''));
    return gold.flatMap((some) => {
      const saying = hits.filter((at) => some.includes(ids[at] ?? ''));
      const weight = 1 / gold.length / Math.sqrt(questions.get(conversation.file) ?? 1);
      return saying.length === 0 ? [] : [{ rows, saying, others, weight }];
    });
  });
}

/** Adds what a small change of each weight would do to the chance of one thing that is needed. */
function addSlope(slope: Float64Array, weights: Float64Array, one: Wanted, all: number): void {
  const { rows, saying, others, weight } = one;
  const scoreOf = (at: number): number => {
    const row = rows[at] ?? weights;
    let sum = 0;
    for (let index = 0; index < row.length; index += 1) sum += (row[index] ?? 0) * (weights[index] ?? 0);
    return sum;
  };
  const said = saying.map(scoreOf);
  const rest = others.map(scoreOf);
  const highest = Math.max(...said, ...rest);
  const odds = (score: number): number => Math.exp(score - highest);
  const ofSaid = said.reduce((sum, score) => sum + odds(score), 0);
  const total = tolerated * ofSaid + rest.reduce((sum, score) => sum + odds(score), 0);
  const add = (at: number, by: number): void => {
    const row = rows[at] ?? weights;
    const share = (by * weight) / all;
    for (let index = 0; index < row.length; index += 1)
      slope[index] = (slope[index] ?? 0) + share * (row[index] ?? 0);
  };
  for (const [at, hit] of saying.entries()) add(hit, odds(said[at] ?? 0) * (1 / ofSaid - tolerated / total));
  for (const [at, hit] of others.entries()) add(hit, -odds(rest[at] ?? 0) / total);
}
