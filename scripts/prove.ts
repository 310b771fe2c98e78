import { fork } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';

import { extractionFigures } from './prove/extraction.ts';
import { found } from './prove/found.ts';
import { governanceFigures } from './prove/governance.ts';
import { proofLine, proofPage, type Proof } from './prove/page.ts';
import { recallFigures } from './prove/recall.ts';
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
    seed: whole('seed', values.seed),
    seeds: whole('seeds', values.seeds ?? seeds),
    steps: whole('steps', values.steps ?? steps),
    faults,
    benchmarks,
  };
}

/** @throws {RangeError} with what is taken. */
function whole(name: string, given: string): number {
  const value = Number(given);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RangeError(`--${name} takes a whole number from 1 on, not "${given}".`);
}

const simulator = new URL('simulate.ts', import.meta.url);
const lineMarks = /(?<=<!-- proof:begin -->\n)[\s\S]*?(?=<!-- proof:end -->)/u;

/** Runs the simulator in a process of its own for seeds from `first` on. Rejects where it ends without having tried them. */
function live(first: number, seeds: number, steps: number): Promise<readonly Progress[]> {
  const options = [`--seed=${first}`, `--seeds=${seeds}`, `--steps=${steps}`, '--no-shrink'];
  const child = fork(simulator, options, {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const told: Progress[] = [];
  child.on('message', (progress: Progress) => {
    told.push(progress);
    // Said at once: the page is written hours later.
    if (progress.broken !== undefined) console.error(`Seed ${progress.seed}: ${progress.broken.promise}`);
  });
  return new Promise((resolve, reject) => {
    child.on('close', () => {
      if (told.filter(({ tried }) => tried !== undefined).length === seeds) resolve(told);
      else reject(new Error(`The simulator ended at seed ${told.at(-1)?.seed ?? first}.`));
    });
  });
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
  return {
    recall: await recallFigures([
      file('locomo/conversations.json'),
      households,
      file('beam/conversations.json'),
    ]),
    governance: await governanceFigures(households),
  };
}

async function main(): Promise<void> {
  const { faults, benchmarks, ...options } = readOptions();
  const { seed, seeds, steps } = options;
  const proof: Proof = {
    ...options,
    ...(await simulated(options)),
    command: [
      'npm run prove --',
      `--seed ${seed} --seeds ${seeds} --steps ${steps}`,
      faults ? '--faults' : '',
      benchmarks === undefined ? '' : '--benchmarks FOLDER',
    ]
      .filter(Boolean)
      .join(' '),
    faults: faults ? await plantedFaults() : undefined,
    extraction: await extractionFigures(),
    benchmarks: benchmarks === undefined ? undefined : await benchmarkFigures(benchmarks),
    found,
  };
  await writeFile('docs/proof.md', proofPage(proof));
  const readme = await readFile('README.md', 'utf8');
  await writeFile(
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
