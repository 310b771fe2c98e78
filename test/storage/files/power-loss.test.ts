import { setImmediate, setTimeout } from 'node:timers/promises';

import { expect, it, onTestFinished, vi } from 'vitest';

import { createFileStore, type FileStore } from '../../../src/storage/files/store.ts';
import { chanceOf } from '../../support/chance.ts';
import { log, notesOf, text } from '../store-fixtures.ts';
import { LossyDisk, lossyFolder } from './lossy-disk.ts';
import { describePowerLosses } from './power-loss-property.ts';
import { createRecordingLogger } from './temporary-store.ts';

describePowerLosses(150);

function open(disk: LossyDisk): Promise<FileStore> {
  return createFileStore({
    dataDir: `${lossyFolder}/data`,
    workspaceDir: `${lossyFolder}/workspace`,
    clock: () => new Date(),
    logger: createRecordingLogger([]),
    fileSystem: disk,
  });
}

it('keeps nothing that came after what it lost: a change that waited for no sync goes before the next, or both are gone [S2]', async () => {
  const found = new Set<string>();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  for (let seed = 0; seed < 400; seed += 1) {
    const disk = new LossyDisk();
    const store = await open(disk);
    await store.append(log, { note: 'on disk' });
    await store.append(log, { note: 'before '.repeat(200) }, { isLazy: true });
    // It still waits for the next, or it is written, and the disk dies before it is synced.
    if (seed % 2 === 1) vi.advanceTimersByTime(20);
    await setImmediate();
    expect(disk.everything().includes('before')).toBe(seed % 2 === 1);
    disk.operationsLeft = 1 + (seed % 5);
    const isAcknowledged = await store.writeText(text, 'after').then(
      () => true,
      () => false,
    );
    disk.losePower(chanceOf(seed * 7919));
    const restarted = await open(disk);
    const notes = await notesOf(restarted, log);
    const isAfter = (await restarted.readText(text)) !== undefined;
    found.add(`${notes.length} ${isAfter ? 'after' : ''}`);
    expect(notes[0]).toBe('on disk');
    expect(isAfter || !isAcknowledged).toBe(true);
    await restarted.close();
  }
  expect(found).toContain('2 after');
  expect(found).not.toContain('1 after');
});

it('a store that is closed writes nothing any more, though its disk refused and takes changes again', async () => {
  const disk = new LossyDisk();
  const store = await open(disk);
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
