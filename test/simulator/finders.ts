import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';

import { z } from 'zod';

import { plantedFaults, type PlantedFault } from './planted-faults.ts';
import { findReach, type Reach } from './reach.ts';
import { runWithFault } from './test-run.ts';

const tablePath = 'test/simulator/finders.jsonl';
const reachPath = 'node_modules/.cache/reach.json';

const usage = `npm run finders -- --reach | [--fault NAME] [--files A,B] | --without A,B

Which test files find which planted faults: ${tablePath}, a line each. Taking tests away asks it.

  --reach        first of all: which test files reach which fault's line, by one run of them all
  (nothing)      adds the line of each fault that has none, by the test files that reach it; may be ended, and goes on where it was
  --fault NAME   only this one, again
  --files A,B    by these test files only
  --without A,B  names the faults that nothing would find any more without these test files`;

/** Such files start the program as it is built, so that what they reach is not known. */
const startsPrograms = /\b(?:startChild|startBuilt|isBuilt|builtProgram|startNpm|startInTerminal)\b/u;

const rowSchema = z.object({
  fault: z.string(),
  /** Of what is replaced by what: another fault of the same name is looked for again. */
  version: z.string(),
  finders: z.array(z.string()),
  /** How many test files were run. */
  tried: z.number(),
  seconds: z.number(),
});
type Row = z.infer<typeof rowSchema>;

function versionOf({ file, find, put }: PlantedFault): string {
  return createHash('sha256')
    .update(JSON.stringify([file, find, put]))
    .digest('hex')
    .slice(0, 8);
}

/** Of the faults as they are now, in their order. */
async function readTable(): Promise<readonly Row[]> {
  const lines = (await readFile(tablePath, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  const rows = lines.map((line) => rowSchema.parse(JSON.parse(line)));
  return plantedFaults.flatMap((fault) => {
    const version = versionOf(fault);
    return rows.findLast((row) => row.fault === fault.name && row.version === version) ?? [];
  });
}

async function writeRow(row: Row): Promise<void> {
  const others = (await readTable()).filter(({ fault }) => fault !== row.fault);
  const order = plantedFaults.map(({ name }) => name);
  const rows = [...others, row].toSorted(
    (one, other) => order.indexOf(one.fault) - order.indexOf(other.fault),
  );
  await writeFile(tablePath, rows.map((each) => `${JSON.stringify(each)}\n`).join(''));
}

async function readReach(): Promise<Reach | undefined> {
  const found = await readFile(reachPath, 'utf8').catch(() => undefined);
  return found === undefined ? undefined : JSON.parse(found);
}

/** The test files that may find a fault: what reaches it and what cannot be known to; all where nothing does. */
async function candidates({ name }: PlantedFault): Promise<readonly string[]> {
  const reach = await readReach();
  if (reach === undefined)
    throw new RangeError('It is not known which test files reach what: --reach first.');
  const all = Object.keys(reach).toSorted();
  const texts = await Promise.all(all.map((file) => readFile(file, 'utf8').catch(() => '')));
  const reaching = all.filter((file) => reach[file]?.includes(name) === true);
  if (reaching.length === 0) return all;
  return all.filter((file, at) => reaching.includes(file) || startsPrograms.test(texts[at] ?? ''));
}

async function fillIn(fault: PlantedFault, given: readonly string[] | undefined): Promise<void> {
  const files = given ?? (await candidates(fault));
  const { failed, ...run } = await runWithFault(fault, files);
  const seconds = Math.round(run.seconds);
  const version = versionOf(fault);
  await writeRow({ fault: fault.name, version, finders: [...failed], tried: files.length, seconds });
  console.log(`${fault.name}: ${failed.length} of ${files.length} test files in ${seconds} s`);
}

/** The faults that would have no finder: the simulator finds those without a test file of their own. */
async function lostWithout(files: readonly string[]): Promise<readonly string[]> {
  const rows = new Map((await readTable()).map((row) => [row.fault, row.finders]));
  const lost = plantedFaults.filter(({ name, test }) => {
    if (test === undefined) return false;
    return (rows.get(name) ?? [test]).every((finder) => files.includes(finder));
  });
  return lost.map(({ name }) => name);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      reach: { type: 'boolean', default: false },
      fault: { type: 'string' },
      files: { type: 'string' },
      without: { type: 'string' },
    },
  });
  const files = values.files?.split(',');
  if (values.reach) {
    await mkdir(dirname(reachPath), { recursive: true });
    const before = (await readReach()) ?? {};
    await writeFile(reachPath, JSON.stringify({ ...before, ...(await findReach(plantedFaults, files)) }));
    return;
  }
  if (values.without !== undefined) {
    const lost = await lostWithout(values.without.split(','));
    console.log(
      lost.length === 0 ? 'Each planted fault is still found.' : `Not found any more: ${lost.join(', ')}`,
    );
    process.exitCode = lost.length === 0 ? 0 : 1;
    return;
  }
  const known = new Set((await readTable()).map(({ fault }) => fault));
  const wanted = ({ name }: PlantedFault) =>
    values.fault === undefined ? !known.has(name) : name === values.fault;
  const faults = plantedFaults.filter(wanted);
  if (values.fault !== undefined && faults.length === 0)
    throw new RangeError(`There is no fault "${values.fault}".`);
  for (const fault of faults) await fillIn(fault, files);
}

try {
  await main();
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 2;
}
