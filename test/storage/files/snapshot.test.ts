import { mkdir, readdir, readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { nodeFileSystem } from '../../../src/storage/files/file-system.ts';
import { readSnapshot } from '../../../src/storage/files/snapshot.ts';
import type { FileStore } from '../../../src/storage/files/store.ts';
import { deferred } from '../../support/deferred.ts';
import { counterKind, document, increment, log } from '../store-fixtures.ts';
import { createObservedFileSystem, diskError } from './observed-file-system.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
let store: FileStore;

beforeEach(async () => {
  stores = await createTemporaryStores();
  store = await stores.open();
});

afterEach(async () => {
  vi.useRealTimers();
  await stores.dispose();
});

async function emptyFolder(): Promise<string> {
  const folder = join(stores.dataDir, '.backup-0123456789ab');
  await mkdir(folder, { mode: 0o700 });
  return folder;
}

/** What a snapshot holds, by name. */
async function contentsOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const contents = (await readSnapshot(folder)) ?? [];
  const texts = contents.map(async ({ name, file }) => {
    const bytes = await readFile(join(folder, file));
    return [name, bytes.toString('utf8')] as const;
  });
  return new Map(await Promise.all(texts));
}

describe('a snapshot [O4]', () => {
  it('holds all that was acknowledged before, and every file as it was at one and the same moment', async () => {
    await store.close();
    vi.useFakeTimers({ toFake: ['setInterval'] });
    store = await stores.open();
    const folder = await emptyFolder();
    await fc.assert(
      fc.asyncProperty(fc.nat(40), fc.nat(5), async (before, pauses) => {
        await nodeFileSystem.removeTree(folder);
        await mkdir(folder);
        let written = 0;
        const first = (await store.read(document, counterKind))?.count ?? 0;
        const over = new AbortController();
        const enough = deferred<void>();
        const writing = (async () => {
          for (; !over.signal.aborted; written += 1) {
            if (written === before) enough.resolve();
            await store.update(document, counterKind, increment);
            await store.append(log, { note: String(first + written + 1) });
          }
        })();
        // `vi.waitUntil` would turn the clock, and a heartbeat have the snapshot taken early.
        await enough.promise;
        for (let pause = 0; pause < pauses; pause += 1) await setImmediate();
        const acknowledged = first + written;
        await store.serveSnapshots();
        over.abort();
        await writing;
        const contents = await contentsOf(folder);
        const { count } = JSON.parse(contents.get(`data/${document}`) ?? '{"count":0}');
        const lines = (contents.get(`data/${log}`) ?? '').split('\n').filter(Boolean);
        expect(count).toBeGreaterThanOrEqual(acknowledged);
        expect(count - lines.length).toBeOneOf([0, 1]);
        for (const line of lines)
          expect(JSON.parse(line)).toMatchObject({ record: { note: expect.any(String) } });
      }),
      { numRuns: 30 },
    );
  });

  it('has the workspace too, and no temporary files', async () => {
    await store.writeText('workspace/USER.md', '# Me\n');
    await store.append(log, { note: 'tea' });
    const folder = await emptyFolder();
    await store.serveSnapshots();
    expect([...(await contentsOf(folder)).keys()].toSorted()).toEqual([`data/${log}`, 'workspace/USER.md']);
  });

  it('is made for another process that asks for one, within ten seconds, and once', async () => {
    await store.close();
    vi.useFakeTimers({ toFake: ['setInterval'] });
    store = await stores.open();
    await store.update(document, counterKind, increment);
    const folder = await emptyFolder();
    vi.advanceTimersByTime(10_000);
    vi.advanceTimersByTime(10_000);
    await vi.waitFor(async () => expect((await contentsOf(folder)).size).toBe(1));
    await store.close();
    expect(await readdir(folder)).toHaveLength(2);
  });

  it('says why if none can be made', async () => {
    const blocked = await createTemporaryStores();
    vi.useFakeTimers({ toFake: ['setInterval'] });
    let isBroken = false;
    const failing = createObservedFileSystem(({ name }) =>
      isBroken && name === 'writeAtomic' ? diskError('EIO') : 'works',
    );
    const other = await blocked.open({ fileSystem: failing });
    await other.append(log, { note: 'tea' });
    isBroken = true;
    const folder = join(blocked.dataDir, '.backup-0123456789ab');
    await mkdir(folder);
    vi.advanceTimersByTime(10_000);
    await vi.waitFor(() => expect(readSnapshot(folder)).rejects.toThrow('its log says why'));
    expect(blocked.logged).toMatchObject([{ level: 'error', data: { error: diskError('EIO') } }]);
    await blocked.dispose();
  });

  it('is removed if nobody fetches it, and at the next start', async () => {
    const folder = await emptyFolder();
    await store.append(log, { note: 'tea' });
    await store.serveSnapshots();
    await store.close();
    vi.useFakeTimers({ toFake: ['setInterval'] });
    store = await stores.open();
    await store.removeLeftovers();
    expect(await readdir(stores.dataDir)).not.toContain('.backup-0123456789ab');
    await mkdir(folder);
    await store.serveSnapshots();
    await utimes(folder, new Date(), new Date(Date.now() - 2 * 3_600_000));
    vi.advanceTimersByTime(10_000);
    await vi.waitFor(async () => expect(await readdir(stores.dataDir)).not.toContain('.backup-0123456789ab'));
  });
});
