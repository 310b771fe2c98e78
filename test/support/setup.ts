/** Runs before each test file, in its process. */
import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { configureGlobal } from 'fast-check';
import { afterAll, inject } from 'vitest';

import { confine, type Reach } from './confine.ts';
import { cleanUpAtEnd, endProcesses } from './processes.ts';
import { runs } from './runs.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Each project of the configuration says how far its tests reach. */
    readonly reach: Reach;
  }
}

/** Where this process is known to be prepared: it runs many test files. */
const prepared = Symbol.for('discoclaw: prepared for tests');

if (!Reflect.has(globalThis, prepared)) {
  Reflect.set(globalThis, prepared, true);
  const folder = mkdtempSync(join(temporaryFolder(), 'discoclaw-tests-'));
  process.env['TMPDIR'] = folder;
  cleanUpAtEnd(folder);
  // Where the test runner is gone, nobody waits for this process.
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  confine(inject('reach'));
}

/** In memory where there is room and nobody asks for another place: no test ends the power, and real disks take long to sync. */
function temporaryFolder(): string {
  const inMemory = '/dev/shm';
  if (process.env['TMPDIR'] !== undefined) return tmpdir();
  try {
    const { bavail, bsize } = statfsSync(inMemory);
    return bavail * bsize > 2 ** 31 ? inMemory : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** The same examples every time, so that `npm test` passes or fails for a reason; the long campaign draws new ones. */
const isRandom = process.env['PROPERTY_SEED'] === 'random';
configureGlobal({ numRuns: runs(100), ...(!isRandom && { seed: 20_260_115 }) });

afterAll(endProcesses);

// As the program does first of all.
process.umask(0o077);
