import { mkdtemp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { moveAll } from '../../src/bot/migrate.ts';
import { parseJson } from '../../src/core/text.ts';
import { formatDocument } from '../../src/storage/document-text.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import type { Store } from '../../src/core/store.ts';
import { ben, counterKind, increment } from '../storage/store-fixtures.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from '../storage/postgres/temporary-database.ts';

const logger = recordingLogger();

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

  const openDatabase = () => database.open({ as: 'alone' });

  it('gives the same files, with U+0000, halves of characters and odd keys in them', async () => {
    const [source, target] = [await emptyFolders(), await emptyFolders()];
    await fill(source, odd);
    await fill(source, { 'sessions/5/3/messages.jsonl': '{"sequence":1,"record":{"x":1}}\nnot a line\n' });
    await writeFile(join(source.workspaceDir, 'picture.png'), Buffer.from([0x89, 0x50, 0xff, 0x00]));
    const forth = await move(source.open, openDatabase);
    expect(forth).toEqual({ copied: 13, there: 0, records: 4, notText: ['workspace/picture.png'] });
    expect(await move(openDatabase, target.open)).toMatchObject({ copied: 13, there: 0, records: 4 });
    const expected = {
      ...odd,
      // As the bot reads it.
      'users/1/durable.json': formatDocument(Object(parseJson(odd['users/1/durable.json']))),
      'users/2/settings.json': `${JSON.stringify(JSON.parse(odd['users/2/settings.json']), null, 2)}\n`,
      'sessions/5/1/messages.jsonl': odd['sessions/5/1/messages.jsonl'].replace(String.raw`\ud800`, '\ufffd'),
      // The damaged line had a number too.
      'sessions/5/3/messages.jsonl': '{"sequence":1,"record":{"x":1}}\n{"sequence":2}\n',
      'workspace/a b/ü.md': '# a byte order mark',
    };
    for (const [key, text] of Object.entries(expected)) {
      const path = key.startsWith('workspace/')
        ? join(target.workspaceDir, key.slice('workspace/'.length))
        : join(target.dataDir, key);
      expect(await readFile(path, 'utf8')).toBe(text);
    }
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

  it('goes on where it was interrupted, as often as that happens', async () => {
    const [source, target] = [await emptyFolders(), await emptyFolders()];
    const people = Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => {
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
    for (const stopAfter of [50, 250, 100])
      await expect(move(source.open, openDatabase, stopAfter)).rejects.toThrow('interrupted');
    expect((await move(source.open, openDatabase)).there).toBeGreaterThan(0);
    for (const stopAfter of [50, 250, 100])
      await expect(move(openDatabase, target.open, stopAfter)).rejects.toThrow('interrupted');
    expect(await move(openDatabase, target.open)).toMatchObject({ records: 120 });
    expect(hashesBelow(target.dataDir).size).toBe(480);
    expect(hashesBelow(target.dataDir)).toEqual(hashesBelow(source.dataDir));
  });
});

type Opened = Store & { close(): Promise<void> };

/** Moves all, or is interrupted after so many writes. */
async function move(
  from: () => Promise<Opened>,
  to: () => Promise<Opened>,
  stopAfter = Number.POSITIVE_INFINITY,
) {
  const source = await from();
  try {
    const target = await to();
    let writes = 0;
    const once = <T>(write: () => Promise<T>): Promise<T> => {
      writes += 1;
      return writes <= stopAfter ? write() : Promise.reject(new Error('interrupted'));
    };
    try {
      return await moveAll(source, {
        ...target,
        update: (...values) => once(() => target.update(...values)),
        append: (...values) => once(() => target.append(...values)),
        rewrite: (...values) => once(() => target.rewrite(...values)),
        writeText: (...values) => once(() => target.writeText(...values)),
      });
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
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
      const same = entry.name.endsWith('.json') ? JSON.stringify(parseJson(text)) : text;
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
    open: () => createFileStore({ dataDir, workspaceDir, clock: () => new Date(), logger }),
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
