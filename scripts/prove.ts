import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

import writeFileAtomic from 'write-file-atomic';

import { readConversations, recallOf } from './bench/recall-quality.ts';
import { govern, type Governance } from '../test/simulator/household.ts';
import { proofLine, proofPage, type Figure, type Proof } from './proof-page.ts';
import type { Progress } from './simulate.ts';

const usage = `npm run prove -- [--quick] [--seed N] [--seeds K] [--steps S] [--faults] [--benchmarks FOLDER]

Tries what is promised and writes docs/proof.md, and its line in README.md. The same options write the same page.

  --quick              40 seeds of 300 steps, in two minutes
  --seed N             the first seed (1)
  --seeds K            simulated lives (1000)
  --steps S            steps of each (500)
  --faults             looks for each planted fault as well, in up to 300 seeds: minutes
  --benchmarks FOLDER  with locomo, gatemem and beam as \`npm run bench:recall\` describes them`;

function readOptions() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string' },
      steps: { type: 'string' },
      faults: { type: 'boolean', default: false },
      benchmarks: { type: 'string' },
    },
  });
  const { quick, faults, benchmarks } = values;
  const [seeds, steps] = quick ? ['40', '300'] : ['1000', '500'];
  return {
    seed: Number(values.seed),
    seeds: Number(values.seeds ?? seeds),
    steps: Number(values.steps ?? steps),
    faults,
    benchmarks,
  };
}

const simulator = new URL('simulate.ts', import.meta.url);
const lineMarks = /(?<=<!-- proof:begin -->\n)[\s\S]*?(?=<!-- proof:end -->)/u;

/** Runs the simulator, which says what is wrong with a number, in a process of its own. @throws {Error} where it ends too early. */
async function live(first: number, seeds: number, steps: number): Promise<readonly Progress[]> {
  const options = [`--seed=${first}`, `--seeds=${seeds}`, `--steps=${steps}`, '--no-shrink'];
  const child = fork(simulator, options, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const told: Progress[] = [];
  child.on('message', (progress: Progress) => {
    told.push(progress);
    // Said at once: the page is written hours later.
    if (progress.broken !== undefined) console.error(`Seed ${progress.seed}: ${progress.broken.promise}`);
  });
  await once(child, 'close');
  if (told.filter(({ tried }) => tried !== undefined).length === seeds) return told;
  throw new Error(`The simulator ended at seed ${told.at(-1)?.seed ?? first}.`);
}

/** Half of the seeds in each of two processes. */
async function simulated({ seed, seeds, steps }: Pick<Proof, 'seed' | 'seeds' | 'steps'>) {
  const half = Math.ceil(seeds / 2);
  const runs = [live(seed, half, steps), ...(seeds > half ? [live(seed + half, seeds - half, steps)] : [])];
  const told = (await Promise.all(runs)).flat();
  const tried = new Map<string, number>();
  for (const { tried: counts = {} } of told)
    for (const [promise, count] of Object.entries(counts))
      tried.set(promise, (tried.get(promise) ?? 0) + count);
  const broken = told.flatMap(({ seed: at, broken: { promise } = {} }) =>
    promise === undefined ? [] : [{ seed: at, promise }],
  );
  for (const { promise } of broken) tried.set(promise, tried.get(promise) ?? 1);
  return { tried: new Map([...tried].toSorted(([one], [other]) => one.localeCompare(other))), broken };
}

/** Rows of the table that the simulator prints. */
async function plantedFaults(): Promise<Proof['faults']> {
  const child = fork(simulator, ['--faults', '--seeds=300'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const rows = child.stdout === null ? '' : await text(child.stdout);
  return rows.split('\n').flatMap((row) => {
    const { promise, where } =
      /^\| [a-z-]+ \| (?<promise>\[.*?) \| (?<where>.*) \|$/u.exec(row)?.groups ?? {};
    return promise === undefined ? [] : [{ promise, where: where === 'NOT FOUND' ? undefined : where }];
  });
}

async function benchmarkFigures(folder: string): Promise<Proof['benchmarks']> {
  const file = (path: string): string => join(folder, path);
  const households = file('gatemem/household.json');
  const recall: Figure[] = [];
  for (const each of [file('locomo/conversations.json'), households, file('beam/conversations.json')]) {
    const { name, ...figure } = await recallOf(each);
    recall.push({ promise: `what was said is found: ${name}`, ...figure });
  }
  return { recall, governance: await governanceFigures(households) };
}

/** Households of a file of GateMem's, each with a bot of its own. */
async function governanceFigures(file: string): Promise<readonly Figure[]> {
  const { conversations } = await readConversations(file);
  const all: Governance[] = [];
  for (const { messages, questions } of conversations) {
    const saidBy = (upTo: number) => messages.slice(0, upTo).filter(({ isBot }) => !isBot);
    const asked = questions.map((question) => ({ ...question, upTo: saidBy(question.upTo).length }));
    all.push(await govern({ messages: saidBy(messages.length), questions: asked }));
  }
  const sum = (key: keyof Governance): number => all.reduce((total, each) => total + each[key], 0);
  const [mayKnow, given] = [sum('mayKnow'), sum('given')];
  return [
    {
      promise: 'what one said oneself, and may be told here, is in the prompt',
      tried: `${mayKnow} parts of answers to ${sum('asked')} questions in ${all.length} households`,
      outcome: `${((100 * given) / mayKnow).toFixed(1)} % given`,
    },
    {
      promise: 'what others said, or what was said in a narrower place, is not',
      tried: `${sum('mustNotKnow')} messages that would answer`,
      outcome: `${sum('leaked')} given`,
    },
    {
      promise: 'nor is what was deleted',
      tried: `${sum('deleted')} looks for a deleted message`,
      outcome: `${sum('stillGiven')} given`,
    },
  ];
}

async function main(): Promise<void> {
  const { faults, benchmarks, ...options } = readOptions();
  const { seed, seeds, steps } = options;
  const proof: Proof = {
    ...options,
    ...(await simulated(options)),
    command: `npm run prove -- --seed ${seed} --seeds ${seeds} --steps ${steps}${faults ? ' --faults' : ''}${benchmarks === undefined ? '' : ' --benchmarks FOLDER'}`,
    faults: faults ? await plantedFaults() : undefined,
    benchmarks: benchmarks === undefined ? undefined : await benchmarkFigures(benchmarks),
  };
  await writeFileAtomic('docs/proof.md', proofPage(proof));
  const readme = await readFile('README.md', 'utf8');
  await writeFileAtomic(
    'README.md',
    readme.replace(lineMarks, () => `\n[Proof](docs/proof.md): ${proofLine(proof)}.\n\n`),
  );
  console.log(`${proofLine(proof)}\ndocs/proof.md and README.md are written.`);
  if (proof.broken.length > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 2;
}
