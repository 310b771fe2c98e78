import { rankingWeights, type RankingWeights } from '../../src/memory/recall/score.ts';
import { print } from './measured.ts';
import type { Conversation } from './recall-conversations.ts';
import { createEvaluator, type Measured } from './recall-evaluator.ts';

/** How far a weight is moved in each round: by these shares of itself, or of a tenth where it is next to nothing. */
const rounds = [0.4, 0.2, 0.4, 0.2, 0.1];
/** Where every fit begins: round numbers that no fit has seen. What is not named begins as it stands. */
const start: RankingWeights = {
  ...rankingWeights,
  saturation: 1.2,
  lengthShare: 0.5,
  neighbours: [0.4, 0.25, 0.12],
  sameAuthor: 1.5,
  bestOccurrence: 0.5,
  namedAuthor: 1,
  authorTerm: 0.3,
  date: 1,
  beginning: 0.3,
  answer: 0.4,
  stretch: 0.15,
  time: 0.5,
  related: 0.2,
  alike: 0.5,
  pair: 0.2,
  phrase: 1,
  question: 0.3,
  bot: 0.3,
  botLent: 0,
  botStretch: 0.1,
  carried: 1,
  longer: 0.03,
  number: 0.2,
  name: 0.2,
  askedName: 0.2,
  now: 0.3,
};
/** What a step has to bring, in points: less is chance. */
const leastGain = 0.02;
/** What may not be more than 1. */
const shares = new Set(['lengthShare', 'bestOccurrence', 'question', 'bot', 'botLent', 'botStretch']);

type Evaluate = (weights: RankingWeights) => Promise<readonly Measured[]>;

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
 * What is made as large as it can be: each file counts by the root of the number of its questions, and the first ten as much as first five and first
 * hit together.
 */
function goal(measured: readonly Measured[]): number {
  const files = new Set(measured.map(({ conversation }) => conversation.file));
  let [sum, counted] = [0, 0];
  for (const file of files) {
    const ofFile = measured.filter((one) => one.conversation.file === file);
    const { at5, at10, reciprocalRank } = figuresOf(ofFile);
    const share = Math.sqrt(ofFile.length);
    sum += (share * (2 * at10 + at5 + reciprocalRank)) / 4;
    counted += share;
  }
  return sum / counted;
}

/** Every weight by itself, those of neighbours too. */
function namesOf(weights: RankingWeights): readonly string[] {
  return Object.entries<number | readonly number[]>({ ...weights }).flatMap(([name, value]) =>
    typeof value === 'number' ? [name] : value.map((_, at) => `${name}.${at}`),
  );
}

/** With one weight moved; `undefined` where it stays. */
function moved(weights: RankingWeights, path: string, share: number): RankingWeights | undefined {
  const [name = '', at] = path.split('.');
  const entry = Object.entries<number | readonly number[]>({ ...weights }).find(
    ([known]) => known === name,
  )?.[1];
  const step = (value: number): number => {
    const next = Math.max(0, value + share * Math.max(Math.abs(value), 0.1));
    return Number((shares.has(name) ? Math.min(1, next) : next).toFixed(3));
  };
  if (entry === undefined) return undefined;
  if (typeof entry === 'number')
    return step(entry) === entry ? undefined : { ...weights, [name]: step(entry) };
  return { ...weights, [name]: entry.map((value, index) => (index === Number(at) ? step(value) : value)) };
}

/** Moves one weight after the other for as long as that brings something for the questions that are counted. */
async function ascend(
  evaluate: Evaluate,
  from: RankingWeights,
  counts: (measured: Measured) => boolean,
): Promise<RankingWeights> {
  const goalOf = async (weights: RankingWeights) => goal((await evaluate(weights)).filter(counts));
  let best = from;
  let reached = await goalOf(best);
  for (const share of rounds) {
    for (const name of namesOf(best)) {
      for (const direction of [share, -share]) {
        const next = moved(best, name, direction);
        const gained = next === undefined ? -Infinity : await goalOf(next);
        if (next === undefined || gained < reached + leastGain) continue;
        [best, reached] = [next, gained];
        break;
      }
    }
  }
  return best;
}

function line(name: string, measured: readonly Measured[]): string {
  const { at5, at10, reciprocalRank } = figuresOf(measured);
  return `${name.padEnd(40)} ${[at5, at10, reciprocalRank].map((value) => value.toFixed(2).padStart(6)).join(' ')}`;
}

/**
 * Fits the ranking's weights to all questions, and tells how much of that is chance: each conversation is measured by weights that were fitted to
 * all others. Deterministic; weights that were measured once are not measured again.
 */
export async function fitRecall(conversations: readonly Conversation[], leaveOut: boolean): Promise<void> {
  const measure = createEvaluator(conversations);
  const known = new Map<string, Promise<readonly Measured[]>>();
  const evaluate: Evaluate = (weights) => {
    const key = JSON.stringify(weights);
    const found = known.get(key) ?? measure(weights);
    known.set(key, found);
    return found;
  };
  const files = [...new Set(conversations.map(({ file }) => file))];
  const tell = (title: string, measured: readonly Measured[]): void => {
    print(`${title.padEnd(40)}    R@5   R@10    MRR`);
    for (const file of files)
      print(
        line(
          file,
          measured.filter((one) => one.conversation.file === file),
        ),
      );
  };
  tell('with the present weights', await evaluate(rankingWeights));
  const fitted = await ascend(evaluate, start, () => true);
  tell('fitted to all', await evaluate(fitted));
  print(JSON.stringify(fitted));
  if (!leaveOut) return;
  const left: Measured[] = [];
  for (const conversation of conversations) {
    const weights = await ascend(evaluate, start, (one) => one.conversation !== conversation);
    const ofOne = (await evaluate(weights)).filter((one) => one.conversation === conversation);
    print(line(conversation.id.slice(0, 40), ofOne));
    left.push(...ofOne);
  }
  tell('each fitted to all others', left);
  print(`${known.size} sets of weights`);
}

/** Each weight at nothing, 30 % lower and 30 % higher: none should sit on a peak. */
export async function perturbWeights(conversations: readonly Conversation[]): Promise<void> {
  const evaluate = createEvaluator(conversations);
  const files = [...new Set(conversations.map(({ file }) => file))];
  for (const name of namesOf(rankingWeights)) {
    for (const share of [-1, -0.3, 0.3]) {
      const weights = moved(rankingWeights, name, share);
      if (weights === undefined) continue;
      const measured = await evaluate(weights);
      for (const file of files)
        print(
          line(
            `${name} ${share > 0 ? '+' : ''}${100 * share} % ${file}`,
            measured.filter((one) => one.conversation.file === file),
          ),
        );
    }
  }
}
