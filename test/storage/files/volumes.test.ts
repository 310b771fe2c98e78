import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError, UnusableStoreError } from '../../../src/core/errors.ts';
import { FolderInUseError } from '../../../src/storage/files/owner-lock.ts';
import { counterKind, document, increment, log, notesOf, text } from '../store-fixtures.ts';
import { createObservedFileSystem, diskError, type Operation } from './observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

const warnings = () => stores.logged.filter(({ level }) => level === 'warn' || level === 'error');

const refusals: Readonly<Record<string, (operation: Operation) => boolean>> = {
  'file permissions': ({ name }) => name === 'chmod',
  'syncing folders': ({ name }) => name === 'sync',
};

describe('a volume that refuses what the store can do without', () => {
  const cases = Object.keys(refusals).flatMap((lack) =>
    ['EPERM', 'ENOTSUP', 'EINVAL', 'ENOSYS'].map((code) => ({ lack, code })),
  );

  it.each(cases)(
    'such as $lack ($code) loses nothing, and is reported once a start',
    async ({ lack, code }) => {
      const fileSystem = createObservedFileSystem((operation) =>
        refusals[lack]?.(operation) === true ? diskError(code) : 'works',
      );
      for (let run = 1; run <= 2; run += 1) {
        stores.logged.length = 0;
        const store = await stores.open({ fileSystem });
        for (let change = 0; change < 4; change += 1) {
          await store.update(document, counterKind, increment);
          await store.writeText(text, `text ${change}`);
          await store.append(log, { note: `note ${change}` });
        }
        await store.close();
        expect(warnings()).toMatchObject([{ level: 'warn', data: { lacks: [lack] } }]);
        const reopened = await stores.open();
        expect(await reopened.read(document, counterKind)).toEqual({ version: 1, count: run * 4 });
        expect(await reopened.readText(text)).toBe('text 3');
        expect(await notesOf(reopened, log)).toHaveLength(run * 4);
        await reopened.close();
      }
    },
  );
});

describe('a volume that cannot bring files on disk', () => {
  it.each(['EINVAL', 'ENOTSUP', 'ENOSYS'])('is refused, with path and remedy (%s)', async (code) => {
    const fileSystem = createObservedFileSystem(({ name }) =>
      name === 'datasync' ? diskError(code) : 'works',
    );
    const opening = stores.open({ fileSystem });
    await expect(opening).rejects.toThrow(UnusableStoreError);
    await expect(opening).rejects.toThrow(stores.dataDir);
    await expect(opening).rejects.toThrow('DISCOCLAW_DATA_DIR');
    expect(await readdir(stores.dataDir)).toEqual([]);
  });
});

describe('a disk that is full at the start', () => {
  const needsRoom = new Set(['mkdir', 'write', 'writeAtomic']);

  /** `makes`: whether it still makes files without content. */
  function fullDisk(makes: boolean) {
    const disk = { isFull: true };
    const fileSystem = createObservedFileSystem(({ name, path }) => {
      const isMaking = name === 'open' && !makes && path.includes('/.');
      return disk.isFull && (needsRoom.has(name) || isMaking) ? diskError('ENOSPC') : 'works';
    });
    return { disk, fileSystem };
  }

  it.each([
    ['and makes files still', true],
    ['and makes none', false],
  ])('%s: what is there is served, nothing is saved, and all is once there is room', async (_name, makes) => {
    const before = await stores.open();
    await before.writeText(text, 'former');
    await before.close();
    const { disk, fileSystem } = fullDisk(makes);
    const store = await stores.open({ fileSystem });
    expect(await store.readText(text)).toBe('former');
    for (let attempt = 0; attempt < 3; attempt += 1)
      await expect(store.writeText(text, 'new')).rejects.toThrow(StoreError);
    await expect(store.append(log, { note: 'new' })).rejects.toThrow('ENOSPC');
    expect(stores.logged).toHaveLength(1);
    disk.isFull = false;
    await store.writeText(text, 'new');
    expect(await store.append(log, { note: 'new' })).toBe(1);
    await expect(stores.open()).rejects.toThrow(FolderInUseError);
    await store.close();
    const reopened = await stores.open();
    expect(await reopened.readText(text)).toBe('new');
  });

  it('opens without a folder, which is created once there is room', async () => {
    const { disk, fileSystem } = fullDisk(false);
    const store = await stores.open({ fileSystem });
    expect(await store.readText(text)).toBeUndefined();
    await expect(store.writeText(text, 'new')).rejects.toThrow('ENOSPC');
    disk.isFull = false;
    await store.writeText(text, 'new');
    expect(await readFile(join(stores.dataDir, text), 'utf8')).toBe('new');
  });

  it('does not let a second process on the folder', async () => {
    await stores.open();
    const { fileSystem } = fullDisk(false);
    await expect(stores.open({ fileSystem })).rejects.toThrow(FolderInUseError);
  });
});
