import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';

import { z } from 'zod';

import { copyOfTheTree } from '../project/copy-of-the-tree.ts';
import { plant, type PlantedFault } from './planted-faults.ts';

/** A run that takes longer is taken for hanging. */
const runMs = 20 * 60_000;
/** A test that waits longer for what a fault keeps from it has found the fault. */
const testMs = 60_000;

const results = z.object({ testResults: z.array(z.object({ name: z.string(), status: z.string() })) });

/** What a run of test files came to: the files that failed, and the seconds that it took. */
export interface TestRun {
  readonly failed: readonly string[];
  readonly seconds: number;
}

/** Runs test files of the projects fast, e2e or postgres in a copy of the tree that has the fault in it. */
export async function runWithFault(fault: PlantedFault, files: readonly string[]): Promise<TestRun> {
  const tree = await copyOfTheTree();
  try {
    const path = join(tree, fault.file);
    await writeFile(path, plant(fault, await readFile(path, 'utf8')));
    return await runTests(tree, files);
  } finally {
    await rm(tree, { recursive: true });
  }
}

/** Runs test files, or all there are, in a copy of the tree. */
export async function runTests(tree: string, files: readonly string[], mostMs = runMs): Promise<TestRun> {
  const began = Date.now();
  const report = join(tree, 'report.json');
  await rm(report, { force: true });
  const needs = (name: string) => files.some((file) => file.includes(name));
  // A build and a server are made only for those who need them.
  const projects = [
    'fast',
    ...(files.length === 0 || needs('e2e') ? ['e2e'] : []),
    ...(needs('.postgres.') ? ['postgres'] : []),
  ];
  const child = spawn(
    process.execPath,
    [
      join(tree, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config=scripts/vitest.config.ts',
      ...projects.map((name) => `--project=${name}`),
      `--testTimeout=${testMs}`,
      `--hookTimeout=${testMs}`,
      '--maxWorkers=2',
      // No later run has the same path, and so none would find what this one keeps.
      '--experimental.fsModuleCache=false',
      '--reporter=json',
      `--outputFile=${report}`,
      ...files,
    ],
    { cwd: tree, stdio: ['ignore', 'ignore', 'ignore'] },
  );
  const hang = setTimeout(() => child.kill('SIGKILL'), mostMs);
  const [code] = await once(child, 'close');
  clearTimeout(hang);
  const { testResults } = results.parse(
    JSON.parse(await readFile(report, 'utf8').catch(() => '{ "testResults": [] }')),
  );
  const named = testResults.filter(({ status }) => status !== 'passed');
  const failed = named.map(({ name }) => relative(tree, name)).toSorted();
  const seconds = (Date.now() - began) / 1000;
  // What ends a process, or an error that no test waits for, belongs to no file: each by itself then.
  if (code === 0 || failed.length > 0) return { failed, seconds };
  if (files.length <= 1) return { failed: files, seconds };
  const alone: string[] = [];
  for (const file of files) alone.push(...(await runTests(tree, [file])).failed);
  return { failed: alone, seconds: (Date.now() - began) / 1000 };
}
