import { setTimeout } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { createFileStore } from '../../../src/storage/files/store.ts';
import { log } from '../store-fixtures.ts';
import { LossyDisk, lossyFolder } from './lossy-disk.ts';
import { describePowerLosses } from './power-loss-property.ts';
import { createRecordingLogger } from './temporary-store.ts';

describePowerLosses(150);

it('a store that is closed writes nothing any more, though its disk refused and takes changes again', async () => {
  const disk = new LossyDisk();
  const store = await createFileStore({
    dataDir: `${lossyFolder}/data`,
    workspaceDir: `${lossyFolder}/workspace`,
    clock: () => new Date(),
    logger: createRecordingLogger([]),
    fileSystem: disk,
  });
  await store.append(log, { note: 'first' });
  disk.operationsLeft = 0;
  disk.delayMs = 200;
  // Its file is about to follow, and the disk slow to refuse it.
  const appended = disk.operations;
  await expect.poll(() => disk.operations, { interval: 10 }).toBeGreaterThan(appended);
  await store.close();
  disk.operationsLeft = Infinity;
  disk.delayMs = 0;
  const closed = disk.operations;
  await setTimeout(500);
  expect(disk.operations).toBe(closed);
});
