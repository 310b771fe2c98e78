import { fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';

import pLimit from 'p-limit';

import { loadSimulator } from '../test/simulator/bundle.ts';
import { plantedFaults, type PlantedFault } from '../test/simulator/planted-faults.ts';
import { sceneText, shrink } from '../test/simulator/shrink.ts';
import { runWithFault } from '../test/simulator/test-run.ts';

const usage = `npm run simulate -- [--seed N] [--seeds K] [--steps S] [--people P] [--trace] [--no-shrink] [--fault NAME | --faults]

  --seed N      the first seed (1)
  --seeds K     so many seeds from there on (1; with --fault and --faults at most 2000, until one fails)
  --steps S     steps of each (300)
  --people P    people in each, at most 50 (5)
  --trace       tell everything that happens, a line each
  --no-shrink   do not look for a smaller scene that fails in the same way
  --fault NAME  with this planted fault in the bot
  --faults      tell which planted faults are found, each in a process of its own`;

/** Simulations that a scene is made smaller by. */
const maxRuns = 300;
/** A process that tells of nothing for so long is taken for hanging. */
const silenceMs = 5 * 60_000;
/** Of one process: what its lives compile is never given back. */
const seedsOfProcess = 200;

type Options = ReturnType<typeof readOptions>;

/** What a process tells the one that began it: the seed that it has come to, how often each promise was looked at there, and which was broken. */
export interface Progress {
  readonly seed: number;
  readonly tried?: Readonly<Record<string, number>>;
  readonly broken?: { readonly step: number; readonly promise: string };
}

function readOptions() {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      seeds: { type: 'string' },
      steps: { type: 'string', default: '300' },
      people: { type: 'string', default: '5' },
      trace: { type: 'boolean', default: false },
      'no-shrink': { type: 'boolean', default: false },
      fault: { type: 'string' },
      faults: { type: 'boolean', default: false },
    },
  });
  const { fault: name, faults } = values;
  const fault = plantedFaults.find((each) => each.name === name);
  if (name !== undefined && fault === undefined)
    throw new RangeError(
      `There is no fault "${name}", but ${plantedFaults.map((each) => each.name).join(', ')}.`,
    );
  if (faults && (name !== undefined || values.trace))
    throw new RangeError('--faults tries them all and tells a line of each: leave out --fault and --trace.');
  return {
    seed: whole('seed', values.seed, 0),
    seeds: whole('seeds', values.seeds ?? (faults || fault !== undefined ? '2000' : '1'), 1),
    steps: whole('steps', values.steps, 1),
    people: whole('people', values.people, 1, 50),
    trace: values.trace,
    isShrinking: !values['no-shrink'],
    fault,
    isTryingFaults: faults,
  };
}

/** @throws {RangeError} with what is taken. */
function whole(name: string, text: string, least: number, most = Number.MAX_SAFE_INTEGER): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw new RangeError(`--${name} takes a whole number from ${least} to ${most}, not "${text}".`);
}

/** Tries many seeds in a process after the other. Resolves with the exit code of the worst. */
async function tryManySeeds({ seed, seeds, fault }: Options): Promise<number> {
  let worst = 0;
  const end = seed + seeds;
  for (let first = seed; first < end && worst < (fault === undefined ? 2 : 1); first += seedsOfProcess) {
    const count = Math.min(seedsOfProcess, end - first);
    const words = [...process.argv.slice(2), `--seed=${first}`, `--seeds=${count}`];
    const child = fork(import.meta.filename, words).on('message', tell);
    const [code] = await once(child, 'close');
    worst = Math.max(worst, code ?? 2);
  }
  return worst;
}

/** Resolves with whether all promises were kept. */
async function trySeeds(options: Options): Promise<boolean> {
  const { seed: first, seeds, steps, people, trace, isShrinking, fault } = options;
  const { simulate } = await loadSimulator(fault);
  const clean = fault === undefined ? undefined : await loadSimulator();
  const shrunken = new Set<string>();
  let isKept = true;
  for (let seed = first; seed < first + seeds; seed += 1) {
    tell({ seed });
    const began = process.hrtime.bigint();
    const run = { seed, steps, people };
    const result = await simulate({ ...run, ...(trace && { trace: console.log }) });
    const seconds = Number(process.hrtime.bigint() - began) / 1e9;
    const { hash, failure, scene } = result;
    console.log(
      `seed ${seed}  ${result.steps} steps  ${(result.elapsedMs / 3_600_000).toFixed(1)} h  ${(result.steps / seconds).toFixed(0)} steps/s  hash ${hash.slice(0, 16)}`,
    );
    tell({ seed, tried: Object.fromEntries(result.tried) });
    if (failure === undefined) continue;
    const { promise, detail, step } = failure;
    console.log(`  broken at step ${step}: ${promise}: ${detail}`);
    if (clean !== undefined && (await clean.simulate(run)).failure !== undefined) {
      console.log('  So it is without the fault: this seed does not count.');
      continue;
    }
    isKept = false;
    tell({ seed, broken: { step, promise } });
    if (isShrinking && !shrunken.has(promise)) {
      shrunken.add(promise);
      const broken = scene.slice(0, step + 1);
      const small = await shrink({ simulate, seed, people, scene: broken, promise, maxRuns });
      console.log(
        small === undefined
          ? '  It could not be repeated: something in it does not come from the seed.'
          : `  Made smaller in ${small.runs} runs:\n${sceneText(seed, small)}\n  ${small.detail}`,
      );
    }
    if (fault !== undefined) break;
  }
  return isKept;
}

/** To the process that began this one, if any. */
function tell(progress: Progress): void {
  process.send?.(progress);
}

/** Resolves with whether all were found. */
async function tryFaults({ seed, seeds, steps, people }: Options): Promise<boolean> {
  const limit = pLimit(2);
  const rows = plantedFaults.map((fault) => limit(() => find(fault)));
  let found = 0;
  console.log('| fault | promise | found |\n| --- | --- | --- |');
  for (const [index, { name, promise }] of plantedFaults.entries()) {
    const where = await rows[index];
    if (where !== undefined) found += 1;
    console.log(`| ${name} | ${promise} | ${where ?? 'NOT FOUND'} |`);
  }
  console.log(`\n${found} of ${plantedFaults.length} found within ${seeds} seeds of ${steps} steps.`);
  return found === plantedFaults.length;

  async function find(fault: PlantedFault): Promise<string | undefined> {
    if (fault.test !== undefined) return (await runWithFault(fault, [fault.test])).failed[0];
    const numbers = Object.entries({ seed, seeds, steps, people }).map(([key, value]) => `--${key}=${value}`);
    const child = fork(import.meta.filename, [`--fault=${fault.name}`, '--no-shrink', ...numbers], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    let last: Progress = { seed };
    let errors = '';
    const hang = setTimeout(() => child.kill('SIGKILL'), silenceMs);
    child.stderr?.on('data', (text: Buffer) => (errors += text.toString()));
    child.on('message', (progress: Progress) => {
      last = progress;
      hang.refresh();
    });
    const [code, signal] = await once(child, 'close');
    clearTimeout(hang);
    const { seed: at, broken } = last;
    if (broken !== undefined) return `seed ${at}, step ${broken.step}: ${broken.promise}`;
    if (signal !== null) return `seed ${at}, does not end`;
    const error = errors.split('\n').find((line) => line.includes('Error')) ?? errors.slice(0, 200);
    return code === 0 ? undefined : `seed ${at}, ends the process: ${error}`;
  }
}

async function main(): Promise<number> {
  let options: Options;
  try {
    options = readOptions();
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  // With the process that began it, it ends too.
  process.on('disconnect', () => process.exit(2));
  if (!options.isTryingFaults && options.seeds > seedsOfProcess) return tryManySeeds(options);
  // Errors are told by the places in the sources.
  process.setSourceMapsEnabled(true);
  return (await (options.isTryingFaults ? tryFaults(options) : trySeeds(options))) ? 0 : 1;
}

process.exit(await main());
