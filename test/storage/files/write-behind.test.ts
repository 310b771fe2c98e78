import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Disk } from '../../../src/storage/files/disk.ts';
import type { Journal } from '../../../src/storage/files/journal.ts';
import { createWriteBehind } from '../../../src/storage/files/write-behind.ts';
import { createKeyLocks } from '../../../src/storage/key-locks.ts';
import { silent } from '../../support/sessions.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('empties the journal once at a time: what was acknowledged since the last time is taken out by the next [S2]', async () => {
  const seen: string[] = [];
  const journal = {
    // So that a change is followed by an emptying of its own.
    size: 5 * 1024 * 1024,
    owesSync: false,
    seal: () => {
      seen.push('sealed');
      return Promise.resolve({ segments: [], keys: new Set<string>() });
    },
    removeSealed: () => {
      seen.push('removed');
      return Promise.resolve();
    },
  };
  const disk = {
    eraseLeftovers: () => Promise.resolve(),
    sync: () => new Promise((resolve) => setTimeout(resolve, 20_000)),
  };
  const writeBehind = createWriteBehind({
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is asked of them
    journal: journal as unknown as Journal,
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same
    disk: disk as unknown as Disk,
    locks: createKeyLocks(16),
    pathOf: (key) => key,
    logger: silent,
  });
  writeBehind.owe('a.json', () => Promise.resolve(), true);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(seen).toEqual(['sealed', 'removed', 'sealed', 'removed']);
});
