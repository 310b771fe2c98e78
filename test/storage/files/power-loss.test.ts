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
  let looked = (): void => {};
  const lstat = async (path: string) => {
    looked();
    return setTimeout(50).then(() => disk.lstat(path));
  };
  const store = await createFileStore({
    dataDir: `${lossyFolder}/data`,
    workspaceDir: `${lossyFolder}/workspace`,
    clock: () => new Date(),
    logger: createRecordingLogger([]),
    fileSystem: { ...disk, lstat },
  });
  await store.append(log, { note: 'first' });
  disk.operationsLeft = 0;
  // Its file is about to follow, and the disk slow to refuse it.
  await new Promise<void>((resolve) => (looked = resolve));
  await store.close();
  disk.operationsLeft = Infinity;
  const closed = disk.operations;
  await setTimeout(500);
  expect(disk.operations).toBe(closed);
});
