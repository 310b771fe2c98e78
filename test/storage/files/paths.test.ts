import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreError } from '../../../src/core/errors.ts';
import { allRoots, locate, rootsIn } from '../../../src/storage/files/paths.ts';
import { assertKey } from '../../../src/storage/keys.ts';
import {
  alice,
  ben,
  counterKind,
  document,
  increment,
  log,
  noteSchema,
  notesOf,
  text,
} from '../store-fixtures.ts';
import { createTemporaryStores, type TemporaryStores } from './temporary-store.ts';

let stores: TemporaryStores;
let outside: string;
beforeEach(async () => {
  stores = await createTemporaryStores();
  outside = await mkdtemp(join(tmpdir(), 'discoclaw-outside-'));
});
afterEach(async () => {
  await stores.dispose();
  await rm(outside, { recursive: true });
});

const roots = rootsIn({
  dataDir: '/d',
  workspaceDir: '/w',
  durableDir: '/moved/durable',
  summaryDir: '/moved/summary',
});
const piece = fc.oneof(
  fc.constantFrom(
    '..',
    '.',
    '',
    'workspace',
    'users',
    '1',
    'durable.json',
    'quarantine',
    'a.bak',
    '\\',
    '\0',
    'é',
    '~',
  ),
  fc.string(),
);
const anyText = fc.oneof(
  fc.string(),
  fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('/')),
);

/** The key, or `undefined` where it is refused as it should be. */
function checked(anything: string): string | undefined {
  try {
    return assertKey(anything);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

describe('a key', () => {
  it('never leads out of its root folder, into the quarantine, or to a hidden or backup file', () => {
    fc.assert(
      fc.property(anyText, (anything) => {
        const key = checked(anything);
        fc.pre(key !== undefined);
        const { root, path } = locate(roots, key);
        expect(allRoots(roots)).toContain(root);
        const segments = relative(root, path).split(sep);
        expect(segments.filter((segment) => /^\.|\.bak$|[\\\0]/.test(segment))).toEqual([]);
        expect(root === roots.data && segments[0] === 'quarantine').toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a layer whose folder was moved [I2]', () => {
  const state = `sessions/${ben}/${alice}/state.json`;
  const shortTerm = `users/${alice}/short-term/${ben}.json`;

  it('keeps its files there, and the others stay', async () => {
    const moved = {
      durableDir: join(outside, 'd'),
      summaryDir: join(outside, 's'),
      shortTermDir: join(outside, 't'),
    };
    const store = await stores.open(moved);
    for (const key of [document, state, shortTerm, `users/${alice}/settings.json`]) {
      await store.update(key, counterKind, increment);
      await store.update(key, counterKind, increment);
    }
    expect(await readdir(join(outside, 'd', 'users', alice))).toEqual(['durable.json', 'durable.json.bak']);
    expect(await readdir(join(outside, 's', 'sessions', ben, alice))).toEqual([
      'state.json',
      'state.json.bak',
    ]);
    expect(await readdir(join(outside, 't', 'users', alice, 'short-term'))).toHaveLength(2);
    expect(await readdir(join(stores.dataDir, 'users', alice))).toEqual([
      'settings.json',
      'settings.json.bak',
    ]);
    expect((await store.list('users')).map(({ path }) => path)).toEqual([
      `${alice}/durable.json`,
      `${alice}/settings.json`,
      `${alice}/short-term/${ben}.json`,
    ]);
    await store.removeAll(`users/${alice}`);
    expect(await store.list('users')).toEqual([]);
    expect(await readdir(join(outside, 'd', 'users'))).toEqual([]);
    expect(await store.read(state, counterKind)).toEqual({ version: 1, count: 2 });
  });
});

describe('the workspace', () => {
  it('may hold files with any name a person gives', async () => {
    const store = await stores.open();
    const names = ['Été à Nice.md', 'notes (2025), [draft] #1.md', '日本語.md', "what's new?.md"];
    for (const name of names) await writeFile(join(stores.workspaceDir, name), name);
    expect((await store.list('workspace')).map(({ path }) => path)).toEqual(names.toSorted());
    for (const name of names) expect(await store.readText(`workspace/${name}`)).toBe(name);
  });

  it('shows no hidden, temporary, backup or linked files', async () => {
    const store = await stores.open();
    await mkdir(join(stores.workspaceDir, '.obsidian'));
    await writeFile(join(outside, 'secret.md'), 'secret');
    for (const name of ['.DS_Store', '.obsidian/app.json', 'SOUL.md.bak', 'SOUL.md']) {
      await writeFile(join(stores.workspaceDir, name), 'x');
    }
    await symlink(join(outside, 'secret.md'), join(stores.workspaceDir, 'link.md'));
    expect(await store.list('workspace')).toEqual([{ path: 'SOUL.md', bytes: 1 }]);
  });

  it('keeps what its owner hides there when all of it is removed', async () => {
    const store = await stores.open();
    await mkdir(join(stores.workspaceDir, '.git'));
    await store.writeText('workspace/memory/2026-01-15.md', 'x');
    await store.removeAll('workspace');
    expect(await readdir(stores.workspaceDir)).toEqual(['.git']);
  });
});

describe('a symbolic link', () => {
  it('in place of a folder is not followed, by any operation', async () => {
    const store = await stores.open();
    await mkdir(join(stores.dataDir, 'users'));
    await symlink(outside, join(stores.dataDir, 'users', alice));
    await writeFile(join(outside, 'durable.json'), '{"version":1,"count":1}');
    const operations = [
      store.read(document, counterKind),
      store.update(document, counterKind, increment),
      store.append(`users/${alice}/x.jsonl`, {}),
      store.readText(text),
      store.writeText(text, 'x'),
      store.remove(document),
      store.removeAll(`users/${alice}/notebook`),
    ];
    for (const outcome of await Promise.allSettled(operations)) {
      expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreError) });
    }
    expect(await readdir(outside)).toEqual(['durable.json']);
  });

  it('in place of a folder shows no names of what lies behind it', async () => {
    const store = await stores.open();
    await writeFile(join(outside, 'secret.md'), 'secret');
    await mkdir(join(stores.dataDir, 'users', alice, 'notebook'), { recursive: true });
    await symlink(outside, join(stores.dataDir, 'users', alice, 'notebook', 'facts'));
    const above = ['users', `users/${alice}`, `users/${alice}/notebook`, `users/${alice}/notebook/facts`];
    for (const folder of above) expect(await store.list(folder)).toEqual([]);
  });

  it('in place of a file is neither read nor written through', async () => {
    const store = await stores.open();
    await store.writeText(text, 'x');
    await store.append(log, { note: 'a' });
    const target = join(outside, 'secret');
    await writeFile(target, 'secret\n');
    for (const key of [text, log]) {
      await rm(join(stores.dataDir, key));
      await symlink(target, join(stores.dataDir, key));
    }
    await expect(store.readText(text)).rejects.toThrow(StoreError);
    await expect(store.append(log, { note: 'b' })).rejects.toThrow(StoreError);
    await expect(notesOf(store, log)).rejects.toThrow(StoreError);
    await expect(store.rewrite(log, noteSchema, () => undefined)).rejects.toThrow(StoreError);
    await store.writeText(text, 'mine');
    expect(await readFile(target, 'utf8')).toBe('secret\n');
  });

  it('to the data folder itself is fine', async () => {
    await symlink(outside, stores.dataDir);
    const store = await stores.open();
    await store.writeText(text, 'x');
    expect(await store.readText(text)).toBe('x');
    expect(await readFile(join(outside, text), 'utf8')).toBe('x');
  });
});

describe('temporary files of a run that was killed', () => {
  it('are removed in the background, and nothing that only looks similar', async () => {
    const before = await stores.open();
    await before.writeText(text, 'x');
    await before.close();
    const folder = join(stores.dataDir, 'users', alice, 'notebook');
    const strays = ['.USER.md.next', 'facts/.user.md.next.1234567890'];
    const others = ['USER.md.next', 'x.123456', '.gitkeep'];
    for (const name of [...strays, ...others]) await writeFile(join(folder, name), 'x');
    const store = await stores.open();
    await store.removeLeftovers();
    const left = await readdir(folder, { recursive: true });
    expect(left.toSorted()).toEqual(['.gitkeep', 'USER.md.next', 'facts', 'facts/user.md', 'x.123456']);
    expect(stores.logged).toMatchObject([{ level: 'info', data: { removed: 2 } }]);
  });
});
