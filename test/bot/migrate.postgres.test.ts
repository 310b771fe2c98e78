import { mkdtemp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { moveAll } from '../../src/bot/migrate.ts';
import { openRawFiles } from '../../src/storage/files/raw-files.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { openRawDatabase } from '../../src/storage/postgres/raw-database.ts';
import type { RawStore } from '../../src/storage/raw.ts';
import { alice, ben, counterKind, increment } from '../storage/store-fixtures.ts';
import { createRecordingLogger } from '../storage/files/temporary-store.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from '../storage/postgres/temporary-database.ts';

const logger = createRecordingLogger([]);

/** What JSON and files may hold that databases and languages stumble over. */
const odd = {
  'users/1/durable.json': String.raw`{
  "version": 1,
  "items": [ { "text": "null \u0000, half \ud83d, \udead", "__proto__": { "x": 1 }, "10": "b", "9": "a", "": 0, "toString": null, "ä\u2028": 1e21 } ]
}
`,
  'users/2/settings.json': '{"version":1,"b":1,"a":{"z":[],"y":{}}}',
  'users/3/durable.json': 'no json at all \u0000',
  'users/4/durable.json': 'null',
  'users/5/durable.json': '[1]\n',
  'sessions/5/1/messages.jsonl': String.raw`{"sequence":1,"record":{"text":"one\u0000 \ud800"}}
{"sequence":3,"record":{"b":2,"a":1,"constructor":"x"}}
{"sequence":7}
`,
  'sessions/5/2/messages.jsonl': '{"sequence":4}\n',
  'users/1/notebook/facts/кофе.md': 'U+0000: \u0000, and no line break at the end',
  'users/1/notebook/data.json': 'called so by its owner',
  'workspace/a b/ü.md': '\ufeff# a byte order mark',
  'changes/1.jsonl': '{"sequence":1,"record":{"kind":"x"}}\n',
} as const;

describe('moving from files to a database and back [X4]', () => {
  let database: TemporaryDatabase;
  beforeEach(async () => {
    database = await createTemporaryDatabase();
  });
  afterEach(() => database.dispose());

  const openDatabase = () => openRawDatabase(database.url, logger);

  it('gives the same files, with U+0000, halves of characters and odd keys in them', async () => {
    const [source, target] = [await emptyFolders(), await emptyFolders()];
    await fill(source, odd);
    await fill(source, { 'sessions/5/3/messages.jsonl': '{"sequence":1,"record":{"x":1}}\nnot a line\n' });
    const forth = await move(source.open, openDatabase);
    expect(forth).toEqual({ copied: 12, there: 0, records: 4, damagedLines: 1 });
    expect(await move(openDatabase, target.open)).toMatchObject({ copied: 12, there: 0, records: 4 });
    const expected = {
      ...odd,
      'users/2/settings.json': `${JSON.stringify(JSON.parse(odd['users/2/settings.json']), null, 2)}\n`,
      'sessions/5/3/messages.jsonl': '{"sequence":1,"record":{"x":1}}\n',
    };
    for (const [key, text] of Object.entries(expected)) {
      const path = key.startsWith('workspace/')
        ? join(target.workspaceDir, key.slice('workspace/'.length))
        : join(target.dataDir, key);
      expect(await readFile(path, 'utf8')).toBe(text);
    }
  });

  it('is used as it was afterwards, and numbers go on behind those that were given out', async () => {
    const source = await emptyFolders();
    await fill(source, { ...odd, [`users/${alice}/durable.json`]: '{"version":1,"count":41}' });
    await move(source.open, openDatabase);
    const store = await database.open();
    expect(await store.update(`users/${alice}/durable.json`, counterKind, increment)).toEqual({
      version: 1,
      count: 42,
    });
    expect(await store.append('sessions/5/1/messages.jsonl', { text: 'next' })).toBe(8);
    expect(await store.readText('users/1/notebook/facts/кофе.md')).toBe(
      odd['users/1/notebook/facts/кофе.md'],
    );
  });

  it('changes nothing where the target holds something else, and not while a bot runs on it', async () => {
    const source = await emptyFolders();
    await fill(source, odd);
    const store = await database.open();
    await expect(move(source.open, openDatabase)).rejects.toThrow('A bot runs on this database');
    await store.update(`users/${ben}/durable.json`, counterKind, increment);
    await store.close();
    await expect(move(source.open, openDatabase)).rejects.toThrow(
      `The target holds users/${ben}/durable.json already`,
    );
  });

  it('leaves nothing under other names that a person’s erasing would not find, however it ends [S7]', async () => {
    const target = await emptyFolders();
    const files = await target.open();
    const own = join(target.dataDir, 'users', alice);
    // Where it cannot take its name, a file stays under the one that it was written under, as after a kill.
    await mkdir(join(own, 'durable.json'), { recursive: true });
    const text = '{"version":1,"text":"canary"}';
    await expect(
      files.write([{ kind: 'document', key: `users/${alice}/durable.json`, text }]),
    ).rejects.toThrow('EISDIR');
    await files.close();
    expect(textsBelow(target.dataDir)).toContain('canary');
    const store = await createFileStore({ ...target, clock: () => new Date(), logger });
    await store.removeAll(`users/${alice}`);
    await store.close();
    expect(textsBelow(target.dataDir)).not.toContain('canary');
  });

  it('goes on where it was interrupted, as often as that happens', { timeout: 600_000 }, async () => {
    const [source, target] = [await emptyFolders(), await emptyFolders()];
    const people = Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => {
        const id = `1000000000000${String(index).padStart(5, '0')}`;
        return [
          [`users/${id}/durable.json`, `{"version":1,"text":"\\u0000 \\udc00 ${index}"}`],
          [`users/${id}/sessions.json`, `{"version":1,"channels":["5${id}"]}`],
          [`sessions/5${id}/${id}/messages.jsonl`, `{"sequence":1,"record":{"n":${index}}}\n`],
          [`users/${id}/notebook/USER.md`, `# ${index}\0`],
        ];
      }).flat(),
    );
    await fill(source, people);
    for (const stopAfter of [2, 3, 4])
      await expect(move(source.open, openDatabase, stopAfter)).rejects.toThrow('interrupted');
    expect((await move(source.open, openDatabase)).there).toBeGreaterThan(0);
    for (const stopAfter of [1, 4, 5])
      await expect(move(openDatabase, target.open, stopAfter)).rejects.toThrow('interrupted');
    expect(await move(openDatabase, target.open)).toMatchObject({ records: 1000 });
    expect(hashesBelow(target.dataDir).size).toBe(4000);
    expect(hashesBelow(target.dataDir)).toEqual(hashesBelow(source.dataDir));
  });
});

/** Moves all, or is interrupted in the middle of a write after so many of them. */
async function move(
  from: () => Promise<RawStore>,
  to: () => Promise<RawStore>,
  stopAfter = Number.POSITIVE_INFINITY,
) {
  const source = await from();
  try {
    const target = await to();
    let writes = 0;
    try {
      return await moveAll(source, {
        ...target,
        async write(entries) {
          writes += 1;
          if (writes <= stopAfter) return target.write(entries);
          await target.write(entries.slice(0, Math.ceil(entries.length / 2)));
          throw new Error('interrupted');
        },
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** All files, hidden ones too. */
function textsBelow(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join('\n');
}

/** Of every file that is not hidden, whatever the layout of its JSON. */
function hashesBelow(folder: string): ReadonlyMap<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.name.startsWith('.'),
  );
  return new Map(
    files.map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const text = readFileSync(path, 'utf8');
      const same = entry.name.endsWith('.json') ? JSON.stringify(JSON.parse(text)) : text;
      return [path.slice(folder.length), createHash('sha256').update(same).digest('hex')];
    }),
  );
}

async function emptyFolders() {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-migrate-'));
  const [dataDir, workspaceDir] = [join(folder, 'data'), join(folder, 'workspace')];
  return {
    dataDir,
    workspaceDir,
    open: () => openRawFiles({ dataDir, workspaceDir, clock: () => new Date(), logger }),
  };
}

async function fill(
  { dataDir, workspaceDir }: { readonly dataDir: string; readonly workspaceDir: string },
  files: Readonly<Record<string, string>>,
) {
  for (const [key, text] of Object.entries(files)) {
    const path = key.startsWith('workspace/')
      ? join(workspaceDir, key.slice('workspace/'.length))
      : join(dataDir, key);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
