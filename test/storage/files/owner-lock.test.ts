import { createHash } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { counterKind, document, entriesOf, increment, log, noteSchema, text } from '../store-fixtures.ts';
import { createObservedFileSystem, diskError, quickFileSystem } from './observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

const thisHost = createHash('sha256').update(hostname()).digest('hex').slice(0, 8);

async function locks(): Promise<string[]> {
  const names = await readdir(stores.dataDir);
  return names.filter((name) => name.startsWith('.owner-'));
}

async function leaveLock(name: string, ageSeconds = 0): Promise<void> {
  await (await stores.open()).close();
  const path = join(stores.dataDir, name);
  await writeFile(path, '');
  const touched = Date.now() / 1000 - ageSeconds;
  await utimes(path, touched, touched);
}

describe('the owner of a data folder', () => {
  it('is one process at a time, and the second learns which', async () => {
    const first = await stores.open();
    await expect(stores.open()).rejects.toThrow(StoreError);
    await expect(stores.open()).rejects.toThrow(`in use by process ${process.pid}`);
    await first.close();
    await expect(stores.open()).resolves.toBeDefined();
  });

  it('is at most one of several that start together', async () => {
    const starts = await Promise.allSettled(Array.from({ length: 4 }, () => stores.open()));
    const started = starts.filter(({ status }) => status === 'fulfilled');
    expect(started.length).toBeLessThanOrEqual(1);
    expect(await locks()).toHaveLength(started.length);
  });

  it('is not kept out by what its own failed attempts have left', async () => {
    for (const failing of ['touch', 'syncAll']) {
      await leaveLock(`.owner-${thisHost}-999999999-1-0000aaaa`);
      let isFailing = true;
      const fileSystem = createObservedFileSystem(({ name }) =>
        isFailing && (name === failing || name === 'unlink') ? diskError('ENOSPC') : 'works',
      );
      const store = await stores.open({ fileSystem });
      await expect(store.update(document, counterKind, increment)).rejects.toThrow(StoreError);
      isFailing = false;
      await store.update(document, counterKind, increment);
      expect(await locks()).toHaveLength(1);
      await store.close();
    }
  });

  it('leaves no lock behind when it closes', async () => {
    const store = await stores.open();
    expect(await locks()).toHaveLength(1);
    await store.close();
    await store.close();
    expect(await locks()).toEqual([]);
  });

  it('is followed by the next when it died, once what it wrote is on disk [S2]', async () => {
    await leaveLock(`.owner-${thisHost}-999999999-1-0000aaaa`);
    const synced: string[] = [];
    const fileSystem = createObservedFileSystem(({ name, path }) => {
      if (name === 'syncAll') synced.push(path);
      return 'works';
    });
    await (await stores.open({ fileSystem })).close();
    expect(await locks()).toEqual([]);
    expect(synced).toEqual([stores.dataDir]);
    await stores.open({ fileSystem });
    expect(synced).toHaveLength(1);
  });

  it('is not mistaken for another process that got its number later', async () => {
    await leaveLock(`.owner-${thisHost}-${process.pid}-1-0000aaaa`);
    await expect(stores.open({ fileSystem: quickFileSystem })).resolves.toBeDefined();
  });

  it('on another machine is believed as long as it gives signs of life', async () => {
    await leaveLock('.owner-11111111-1-1-0000aaaa', 5);
    await expect(stores.open()).rejects.toThrow('in use');
    await utimes(join(stores.dataDir, '.owner-11111111-1-1-0000aaaa'), 1, Date.now() / 1000 - 60);
    await expect(stores.open({ fileSystem: quickFileSystem })).resolves.toBeDefined();
  });
});

describe('a store open for reading only', () => {
  it('opens beside the owner, sees its changes and changes nothing', async () => {
    const owner = await stores.open();
    const reader = await stores.open({ readOnly: true });
    await owner.update(document, counterKind, increment);
    await owner.append(log, { note: 'a' });
    await owner.writeText(text, 'x');
    expect(await reader.read(document, counterKind)).toEqual({ version: 1, count: 1 });
    expect(await entriesOf(reader, log)).toHaveLength(1);
    expect(await reader.readText(text)).toBe('x');
    const changes = [
      reader.update(document, counterKind, increment),
      reader.append(log, { note: 'b' }),
      reader.rewrite(log, noteSchema, () => undefined),
      reader.writeText(text, 'y'),
      reader.remove(text),
      reader.removeAll('users'),
    ];
    for (const outcome of await Promise.allSettled(changes)) {
      expect(outcome).toMatchObject({ reason: { message: expect.stringContaining('reading only') } });
    }
  });

  it('leaves damage for the owner to repair', async () => {
    const owner = await stores.open();
    await owner.update(document, counterKind, increment);
    await owner.update(document, counterKind, increment);
    await owner.append(log, { note: 'a' });
    await owner.close();
    await writeFile(join(stores.dataDir, document), 'broken');
    await writeFile(join(stores.dataDir, log), '{"sequence":1,"record":{"note":"a"}}\n{"seq');
    const reader = await stores.open({ readOnly: true });
    const before = await readdir(stores.dataDir, { recursive: true });
    expect(await reader.read(document, counterKind)).toEqual({ version: 1, count: 2 });
    expect(await entriesOf(reader, log)).toHaveLength(1);
    expect(await readdir(stores.dataDir, { recursive: true })).toEqual(before);
  });

  it('opens where there is no data yet, and makes none', async () => {
    const reader = await stores.open({ readOnly: true });
    expect(await reader.read(document, counterKind)).toBeUndefined();
    expect(await reader.list('users')).toEqual([]);
    await expect(readdir(stores.dataDir)).rejects.toThrow('ENOENT');
  });
});

describe('a closed store', () => {
  it('has finished earlier requests and refuses later ones', async () => {
    const store = await stores.open();
    const finished: string[] = [];
    const last = store.update(document, counterKind, increment).then(() => finished.push('update'));
    await store.close();
    expect(finished).toEqual(['update']);
    await last;
    await expect(store.append(log, { note: 'late' })).rejects.toThrow('closed');
  });
});
