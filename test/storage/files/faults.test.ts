import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import type { FileStore } from '../../../src/storage/files/file-store.ts';
import {
  alice,
  counterKind,
  document,
  entriesOf,
  increment,
  log,
  noteSchema,
  notesOf,
  text,
} from '../store-fixtures.ts';
import type { Fate, Operation } from './observed-file-system.ts';
import { createObservedFileSystem, diskError } from './observed-file-system.ts';
import type { TemporaryStores } from './temporary-store.ts';
import { createTemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

/** A store whose disk does as `fate` says, once `break` was called. */
async function openBreakable(fate: (operation: Operation, index: number) => Fate) {
  let isBroken = false;
  let index = -1;
  const fileSystem = createObservedFileSystem((operation) => {
    if (!isBroken) return 'works';
    index += 1;
    return fate(operation, index);
  });
  const store = await stores.open({ fileSystem });
  return {
    store,
    break() {
      isBroken = true;
    },
    mend() {
      isBroken = false;
    },
    get operations() {
      return index + 1;
    },
  };
}

/** All that a store holds of what the changes below touch. */
async function contentOf(store: FileStore) {
  return {
    document: await store.read(document, counterKind),
    text: await store.readText(text),
    log: await entriesOf(store, log),
  };
}

const changes: Readonly<Record<string, (store: FileStore) => Promise<unknown>>> = {
  'a document': (store) => store.update(document, counterKind, increment),
  'a text': (store) => store.writeText(text, 'second text, longer than the first'),
  'an append': (store) => store.append(log, { note: 'second note, longer than the first' }),
  'a rewrite': (store) => store.rewrite(log, noteSchema, () => ({ note: 'another' })),
  'a removal': (store) => store.remove(document),
  'the removal of a folder': (store) => store.removeAll('users'),
};

async function prepare(store: FileStore): Promise<void> {
  await store.update(document, counterKind, increment);
  await store.update(document, counterKind, increment);
  await store.writeText(text, 'first');
  await store.append(log, { note: 'first' });
}

/** Makes the disk fail at its first, second … operation of a change, until the change needs fewer than that. */
async function failEverywhere(
  change: (store: FileStore) => Promise<unknown>,
  fateOf: (operation: Operation) => Fate,
): Promise<number> {
  for (let failing = 0; ; failing += 1) {
    const disk = await openBreakable((operation, index) => (index === failing ? fateOf(operation) : 'works'));
    await disk.store.removeAll('users');
    await disk.store.removeAll('sessions');
    await prepare(disk.store);
    const before = await contentOf(disk.store);
    disk.break();
    const outcome = await change(disk.store).then(
      () => 'done' as const,
      (error: unknown) => error,
    );
    disk.mend();
    const after = await contentOf(disk.store);
    expect(outcome).toSatisfy((end) => end === 'done' || end instanceof StoreError);
    expect(after).toEqual(outcome === 'done' ? after : before);
    await disk.store.close();
    const reopened = await stores.open();
    expect(await contentOf(reopened)).toEqual(after);
    // The same change works once the disk does.
    await change(reopened);
    expect(await contentOf(reopened)).not.toEqual(before);
    await reopened.close();
    if (disk.operations <= failing) return failing;
  }
}

describe('a disk that fails at one operation of a change', () => {
  for (const [name, change] of Object.entries(changes)) {
    it(`leaves the old state or the whole new one of ${name}`, async () => {
      expect(await failEverywhere(change, () => diskError('EIO'))).toBeGreaterThan(2);
    });

    it(`puts no half of ${name} in place of the old state when writes come out short [trap 27]`, async () => {
      expect(await failEverywhere(change, () => 'short')).toBeGreaterThan(2);
    });
  }
});

describe('a disk that stays full or read-only', () => {
  const refusals = Object.entries(changes).flatMap(([name, change]) =>
    ['ENOSPC', 'EROFS', 'EACCES'].map((code) => ({ name, change, code })),
  );
  it.each(refusals)('rejects $name ($code) and keeps serving what is there', async ({ change, code }) => {
    const refused = new Set([
      'writeFileAtomic',
      'write',
      'mkdir',
      'link',
      'rename',
      'unlink',
      'truncate',
      'datasync',
    ]);
    const disk = await openBreakable(({ name }) => (refused.has(name) ? diskError(code) : 'works'));
    await prepare(disk.store);
    const before = await contentOf(disk.store);
    disk.break();
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(change(disk.store)).rejects.toThrow(code);
      expect(await contentOf(disk.store)).toEqual(before);
    }
    disk.mend();
    await change(disk.store);
    expect(await contentOf(disk.store)).not.toEqual(before);
  });

  it('names the key in the error and keeps its cause', async () => {
    const cause = diskError('ENOSPC');
    const disk = await openBreakable(({ name }) => (name === 'writeFileAtomic' ? cause : 'works'));
    disk.break();
    await expect(disk.store.writeText(text, 'x')).rejects.toMatchObject({
      name: 'StoreError',
      key: text,
      cause,
    });
  });
});

describe('an append that failed', () => {
  it('leaves nothing behind that a later record could be glued to [trap 28]', async () => {
    let writes = 0;
    const disk = await openBreakable(({ name }) => {
      if (name === 'truncate') return diskError('EIO');
      if (name !== 'write') return 'works';
      writes += 1;
      return writes === 1 ? 'short' : diskError('ENOSPC');
    });
    await disk.store.append(log, { note: 'good' });
    disk.break();
    await expect(disk.store.append(log, { note: 'half of this is written' })).rejects.toThrow(StoreError);
    expect(await readFile(join(stores.dataDir, log), 'utf8')).toMatch(/\n.+$/);
    expect(await notesOf(disk.store, log)).toEqual(['good']);
    await disk.store.close();
    const mended = await stores.open();
    expect(await mended.append(log, { note: 'next' })).toBe(2);
    expect(await notesOf(mended, log)).toEqual(['good', 'next']);
  });

  it('is not read when it reached the disk but was not synced, and its number goes to the next', async () => {
    const disk = await openBreakable(({ name }) =>
      name === 'datasync' || name === 'truncate' ? diskError('EIO') : 'works',
    );
    await disk.store.append(log, { note: 'good' });
    disk.break();
    await expect(disk.store.append(log, { note: 'unsynced' })).rejects.toThrow(StoreError);
    expect(await disk.store.lastSequence(log)).toBe(1);
    expect(await entriesOf(disk.store, log)).toHaveLength(1);
    disk.mend();
    expect(await disk.store.append(log, { note: 'next' })).toBe(2);
    expect(await notesOf(disk.store, log)).toEqual(['good', 'next']);
  });
});

describe('a file system without hard links', () => {
  it('keeps backups as copies', async () => {
    const fileSystem = createObservedFileSystem(({ name }) =>
      name === 'link' ? diskError('ENOTSUP') : 'works',
    );
    const store = await stores.open({ fileSystem });
    await store.writeText(text, 'first');
    await store.writeText(text, 'second');
    expect(await store.readText(text)).toBe('second');
    expect(await readFile(join(stores.dataDir, `${text}.bak`), 'utf8')).toBe('first');
    expect(await store.list(`users/${alice}`)).toHaveLength(1);
  });
});
