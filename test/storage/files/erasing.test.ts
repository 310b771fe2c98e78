import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FileStore } from '../../../src/storage/files/store.ts';
import { document, log, noteKind, noteSchema, text } from '../store-fixtures.ts';
import {
  createObservedFileSystem,
  diskError,
  quickFileSystem,
  type Fate,
  type Operation,
} from './observed-file-system.ts';
import { isStray } from '../../../src/storage/files/paths.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
beforeEach(async () => {
  stores = await createTemporaryStores();
});
afterEach(() => stores.dispose());

const canary = 'canary-4f1c';
const clean = { version: 1 as const, note: 'clean' };

/** The names that files have while they are written, copied or removed. */
function temporaryFiles(): readonly string[] {
  const found = readdirSync(dirname(stores.dataDir), { recursive: true, encoding: 'utf8' });
  return found.filter((name) => isStray(basename(name)));
}

/** The canary in a document, text and log, in their backups, and in quarantine. */
function fill(): void {
  const stamp = '20260115T110000000Z';
  const files = {
    [document]: `{ "version": 1, "note": "${canary}" }`,
    [`${document}.bak`]: canary,
    [`quarantine/${document}.${stamp}`]: canary,
    [text]: canary,
    [log]: `{"sequence":1,"record":{"note":"${canary}"}}\n`,
  };
  for (const [key, content] of Object.entries(files)) {
    const path = join(stores.dataDir, key);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

function holdsCanary(key: string): boolean {
  const path = join(stores.dataDir, key);
  return existsSync(path) && readFileSync(path, 'utf8').includes(canary);
}

/** The ways to erase all that `fill` made. */
const erasings: Readonly<Record<string, (store: FileStore) => Promise<void>>> = {
  async changes(store) {
    await store.update(document, noteKind, () => clean, { erase: true });
    await store.writeText(text, 'clean');
    await store.rewrite(log, noteSchema, () => ({ note: 'clean' }));
  },
  async removals(store) {
    for (const key of [document, text, log]) await store.remove(key);
  },
  async 'removals of folders'(store) {
    for (const folder of ['users', 'sessions']) await store.removeAll(folder);
  },
};

describe.each(Object.entries(erasings))('%s', (_, erase) => {
  /** Lets the disk do as `fate` says from one operation on: the first one, the second one … until there is no such operation. */
  async function eachOperation(
    fate: (operation: Operation, index: number, failing: number) => Fate,
    check: (store: FileStore, outcome: 'done' | 'rejected') => Promise<void>,
  ): Promise<number> {
    for (let failing = 0; ; failing += 1) {
      let index = -1;
      let isBroken = false;
      const fileSystem = createObservedFileSystem((operation) => {
        if (!isBroken) return 'works';
        index += 1;
        return fate(operation, index, failing);
      });
      const store = await stores.open({ fileSystem });
      fill();
      isBroken = true;
      const outcome = await erase(store).then(
        () => 'done' as const,
        () => 'rejected' as const,
      );
      isBroken = false;
      await check(store, outcome);
      await store.close();
      if (index < failing) return failing;
    }
  }

  it('that meet one failure leave none when they resolve, and else when called again', async () => {
    const operations = await eachOperation(
      (_operation, index, failing) => (index === failing ? diskError('EIO') : 'works'),
      async (store, outcome) => {
        if (outcome === 'rejected') await erase(store);
        expect(stores.everything()).not.toContain(canary);
      },
    );
    expect(operations).toBeGreaterThan(10);
  });

  it('that are killed leave none when they are called again after the next start', async () => {
    const operations = await eachOperation(
      (_operation, index, failing) => (index >= failing ? diskError('EIO') : 'works'),
      async (store) => {
        await store.close();
        // Nobody asks for its copy any more once the document itself is clean.
        expect(!holdsCanary(`${document}.bak`) || holdsCanary(document)).toBe(true);
        const restarted = await stores.open({ fileSystem: quickFileSystem });
        await erase(restarted);
        expect(stores.everything()).not.toContain(canary);
        await restarted.close();
      },
    );
    expect(operations).toBeGreaterThan(10);
  });
});

describe('a document whose former content was erased', () => {
  it('is its own last good copy', async () => {
    const store = await stores.open();
    fill();
    await store.update(document, noteKind, () => clean, { erase: true });
    await stores.damage(document, 'damaged');
    expect(await store.read(document, noteKind)).toEqual(clean);
  });
});

describe('a temporary file', () => {
  it('that a failing disk keeps goes when its own file is written or erased, or at the next start', async () => {
    let isBroken = false;
    let isWritten = false;
    const fileSystem = createObservedFileSystem(({ name }) => {
      isWritten ||= name === 'writeAtomic';
      return isBroken && isWritten && ['rename', 'unlink'].includes(name) ? diskError('EIO') : 'works';
    });
    const store = await stores.open({ fileSystem });
    const refuse = async () => {
      [isBroken, isWritten] = [true, false];
      await expect(store.writeText(text, canary)).rejects.toThrow('EIO');
      isBroken = false;
      expect(temporaryFiles()).toHaveLength(1);
    };
    await store.writeText(text, 'former');
    await refuse();
    expect(await store.readText(text)).toBe('former');
    await store.writeText(text, 'clean');
    expect(temporaryFiles()).toEqual([]);
    await refuse();
    await store.remove(text);
    expect(temporaryFiles()).toEqual([]);
    await refuse();
    await store.close();
    const restarted = await stores.open();
    await restarted.removeLeftovers();
    expect(temporaryFiles()).toEqual([]);
  });
});
