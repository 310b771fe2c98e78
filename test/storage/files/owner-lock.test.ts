import { readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreError, UnusableStoreError } from '../../../src/core/errors.ts';
import type { FileSystem } from '../../../src/storage/files/file-system.ts';
import { FolderInUseError, FolderLostError } from '../../../src/storage/files/owner-lock.ts';
import { counterKind, document, entriesOf, increment, log, noteSchema, text } from '../store-fixtures.ts';
import { createObservedFileSystem, diskError, quickFileSystem } from './observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

async function locks(): Promise<string[]> {
  const names = await readdir(stores.dataDir);
  return names.filter((name) => name.startsWith('.owner-'));
}

/** The beginning of the names of locks of processes that this one can see. */
async function seenFromHere(): Promise<string> {
  const store = await stores.open({ fileSystem: quickFileSystem });
  const [name = ''] = await locks();
  await store.close();
  return name.slice(0, '.owner-00000000'.length);
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
    await leaveLock(`${await seenFromHere()}-999999999-1-0000aaaa`);
    let isFailing = true;
    const fileSystem = createObservedFileSystem(({ name }) =>
      isFailing && ['touch', 'unlink'].includes(name) ? diskError('ENOSPC') : 'works',
    );
    const store = await stores.open({ fileSystem });
    await expect(store.update(document, counterKind, increment)).rejects.toThrow(StoreError);
    isFailing = false;
    await store.update(document, counterKind, increment);
    expect(await locks()).toHaveLength(1);
  });

  it('is followed by the next when it died, once what it wrote is on disk [S2]', async () => {
    await leaveLock(`${await seenFromHere()}-999999999-1-0000aaaa`);
    const synced: string[] = [];
    const fileSystem = createObservedFileSystem(({ name, path }) => {
      if (name === 'syncAll') synced.push(path);
      return 'works';
    });
    await stores.open({ fileSystem });
    expect(await locks()).not.toContainEqual(expect.stringContaining('999999999'));
    expect(synced).toEqual([stores.dataDir]);
  });

  it('lets no second process in where the disk is full at its start', async () => {
    await stores.open();
    const fileSystem = createObservedFileSystem(({ name }) =>
      ['mkdir', 'write', 'writeAtomic'].includes(name) ? diskError('ENOSPC') : 'works',
    );
    await expect(stores.open({ fileSystem })).rejects.toThrow(FolderInUseError);
  });

  it('is not mistaken for another process that got its number later', async () => {
    await leaveLock(`${await seenFromHere()}-${process.pid}-1-0000aaaa`);
    await expect(stores.open({ fileSystem: quickFileSystem })).resolves.toBeDefined();
  });
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

/** As a process of another PID namespace has it: the same disk and name of the host, but none of the processes. */
const elsewhere = (): FileSystem => ({
  ...quickFileSystem,
  open(path, flags, mode) {
    if (path === '/proc/self/ns/pid') return quickFileSystem.open(stores.dataDir, flags, mode);
    if (/^\/proc\/\d/u.test(path)) return Promise.reject(diskError('ENOENT'));
    return quickFileSystem.open(path, flags, mode);
  },
});
/** The outcome of a start, and how many seconds it took. */
async function seconds(opening: Promise<unknown>) {
  const outcomes: unknown[] = [];
  opening.then(
    () => outcomes.push('open'),
    (error: unknown) => outcomes.push(error),
  );
  let waited = 0;
  for (; outcomes.length === 0 && waited < 60; waited += 1) await vi.advanceTimersByTimeAsync(1000);
  return { outcome: outcomes[0], waited };
}

describe('a data folder whose other bot cannot be seen [S8]', () => {
  beforeEach(() => {
    vi.useFakeTimers({
      toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    });
  });
  afterEach(() => vi.useRealTimers());

  it('is not taken from it under the same name of the host: its heartbeats are seen', async () => {
    const first = await stores.open({ fileSystem: quickFileSystem });
    const [lock] = await locks();
    const { outcome, waited } = await seconds(stores.open({ fileSystem: elsewhere() }));
    expect(outcome).toBeInstanceOf(FolderInUseError);
    expect(outcome).toMatchObject({ message: expect.stringContaining('another container') });
    expect(waited).toBeLessThan(7);
    expect(await locks()).toEqual([lock]);
    await first.update(document, counterKind, increment);
  });

  it.each([-3_000_000, 0, 3_000_000])(
    'is taken after fifteen seconds without a heartbeat, and the start says that it waits (lock of %d seconds ago)',
    async (age) => {
      await leaveLock('.owner-11111111-1-1-0000aaaa', age);
      const { outcome, waited } = await seconds(stores.open({ fileSystem: quickFileSystem }));
      expect([outcome, waited]).toEqual(['open', 15]);
      expect(await locks()).toHaveLength(1);
      expect(stores.logged).toMatchObject([
        { level: 'warn', event: expect.stringContaining('waiting up to 15 seconds') },
      ]);
    },
  );

  it('is taken as soon as it stops in order', async () => {
    const first = await stores.open({ fileSystem: quickFileSystem });
    setTimeout(() => void first.close(), 2000);
    expect(await seconds(stores.open({ fileSystem: elsewhere() }))).toEqual({ outcome: 'open', waited: 2 });
  });

  it('is let go when the start that waits for it is ended', async () => {
    await leaveLock('.owner-11111111-1-1-0000aaaa');
    const { outcome, waited } = await seconds(
      stores.open({ fileSystem: quickFileSystem, signal: AbortSignal.abort(new Error('enough')) }),
    );
    expect(outcome).toMatchObject({ message: 'enough' });
    expect(waited).toBe(1);
    expect(await locks()).toEqual(['.owner-11111111-1-1-0000aaaa']);
  });

  it('is lost to one that took it over: within a heartbeat it is told, and nothing more is written', async () => {
    const lost: Error[] = [];
    const store = await stores.open({ fileSystem: quickFileSystem, onLost: (error) => lost.push(error) });
    await store.update(document, counterKind, increment);
    await store.append(log, { note: 'before' });
    for (const name of await locks()) await rm(join(stores.dataDir, name));
    await vi.advanceTimersByTimeAsync(5000);
    expect(lost).toMatchObject([{ message: expect.stringContaining('writes nothing more') }]);
    const before = stores.everything();
    const changes = [
      store.update(document, counterKind, increment),
      store.append(log, { note: 'late' }),
      store.rewrite(log, noteSchema, () => undefined),
      store.writeText(text, 'late'),
      store.remove(document),
      store.removeAll('users'),
    ];
    for (const change of await Promise.allSettled(changes))
      expect(change).toMatchObject({ status: 'rejected', reason: lost[0] });
    await writeFile(join(stores.dataDir, document), 'damaged');
    await vi.advanceTimersByTimeAsync(60_000);
    await expect(store.read(document, counterKind)).rejects.toThrow(StoreError);
    await writeFile(join(stores.dataDir, document), JSON.stringify({ version: 1, count: 1 }));
    await store.close();
    expect(stores.everything().replaceAll(/\s/gu, '')).toBe(before.replaceAll(/\s/gu, ''));
    expect(lost).toHaveLength(1);
  });

  it('is looked at before a write by a process that stood still', async () => {
    const store = await stores.open({ fileSystem: quickFileSystem });
    for (const name of await locks()) await rm(join(stores.dataDir, name));
    vi.setSystemTime(Date.now() + 60_000);
    await expect(store.writeText(text, 'late')).rejects.toThrow(FolderLostError);
    expect(stores.everything()).not.toContain('late');
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
    await expect(reader.read(document, counterKind)).rejects.toThrow('cannot be read');
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
