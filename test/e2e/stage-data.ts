import { writeFileSync } from 'node:fs';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { inject } from 'vitest';
import { z } from 'zod';

import { formatLine } from '../../src/storage/files/logs.ts';
import { createTemporaryDatabase } from '../storage/postgres/temporary-database.ts';

/** What the bot of a stage remembers, beside the bot: files in the stage's folder, or a database where the project has a server. */
export interface StageData {
  /** How the bot comes to it. */
  readonly environment: Readonly<Record<string, string>>;
  /** `data/…` or `workspace/…`, as it lies in files. */
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** All that is kept in one of the two folders, whatever it is, by the path that it has there; the path of what belongs to a key begins with the key. */
  everything(folder: KeptFolder): Promise<readonly Kept[]>;
  /** It is so many milliseconds later than it is by the clock: also by the database's own, where the bot's clock is set forward. */
  setLater(ms: number): Promise<void>;
  dispose(): Promise<void>;
}

export type KeptFolder = 'data' | 'workspace';

export interface Kept {
  readonly path: string;
  readonly text: string;
}

export function openStageData(folder: string): Promise<StageData> {
  return inject('databaseUrl') === undefined ? Promise.resolve(inFiles(folder)) : inDatabase();
}

function inFiles(folder: string): StageData {
  return {
    environment: {},
    read: (path) => readFile(join(folder, path), 'utf8'),
    async write(path, text) {
      await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
      // Without a pause between emptying and writing, in which the bot would find a second, empty content to put into quarantine.
      writeFileSync(join(folder, path), text, { mode: 0o600 });
    },
    async everything(of) {
      const data = join(folder, of);
      const found = await readdir(data, { recursive: true, withFileTypes: true });
      const paths = found
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      return Promise.all(
        paths.map(async (path) => {
          // What the bot is just writing may be gone by its temporary name.
          const text = await readFile(path, 'utf8').catch(() => '');
          return { path: path.slice(data.length + 1), text };
        }),
      );
    },
    setLater: () => Promise.resolve(),
    dispose: () => Promise.resolve(),
  };
}

async function inDatabase(): Promise<StageData> {
  const database = await createTemporaryDatabase();
  // What has its tables made.
  await (await database.open()).close();
  // Not a bot, for which others would have to wait.
  const store = await database.open({ as: 'reader', connections: 2 });
  let laterMs = 0;
  return {
    environment: { DISCOCLAW_STORE: database.url },
    async read(path) {
      const key = keyOf(path);
      const text = key.endsWith('.jsonl') ? await linesOf(key) : await store.readText(key);
      if (text === undefined)
        throw Object.assign(new Error(`ENOENT: there is no ${path}`), { code: 'ENOENT' });
      return key.endsWith('.json') && !key.startsWith('workspace') ? indented(text) : text;
    },
    async write(path, text) {
      const key = keyOf(path);
      if (key.startsWith('quarantine/')) {
        const values = [key.slice('quarantine/'.length).replace(/\.[^.]*$/u, ''), Buffer.from(text)];
        await database.query(
          `insert into discoclaw.quarantine (key, reason, content) values ($1, 'written by a test', $2)`,
          values,
        );
        return;
      }
      const writer = await database.open({ connections: 1 });
      const copies = await database.query(
        'select former_document::text as document from discoclaw.entries where key = $1',
        [key],
      );
      if (key.endsWith('.jsonl')) for (const record of recordsIn(text)) await writer.append(key, record);
      else await writer.writeText(key, text);
      // An edit by hand leaves the copy alone.
      for (const { document } of copies)
        await database.query('update discoclaw.entries set former_document = $2::json where key = $1', [
          key,
          document,
        ]);
      await writer.close();
    },
    async everything(folder) {
      const rows = await database.query(everyRow);
      const found = rows.map(({ path, text }) => ({ path: String(path), text: String(text) }));
      const prefix = 'workspace/';
      return folder === 'data'
        ? found.filter(({ path }) => !path.startsWith(prefix))
        : found.flatMap(({ path, text }) =>
            path.startsWith(prefix) ? [{ path: path.slice(prefix.length), text }] : [],
          );
    },
    async setLater(ms) {
      if (ms > laterMs) await database.query(letPass, [ms - laterMs]);
      laterMs = ms;
    },
    dispose: () => database.dispose(),
  };

  async function linesOf(key: string): Promise<string | undefined> {
    const lines: string[] = [];
    for await (const { sequence, record } of store.scan(key, z.unknown()))
      lines.push(formatLine(sequence, JSON.stringify(record)).toString());
    return lines.length === 0 ? undefined : lines.join('');
  }
}

function keyOf(path: string): string {
  return path.replace(/^data\//u, '');
}

/** The records of a log as it lies in a file, which begins with the first. */
function recordsIn(lines: string): readonly object[] {
  const line = z.object({ record: z.record(z.string(), z.unknown()) });
  return lines
    .trim()
    .split('\n')
    .map((text) => line.parse(JSON.parse(text)).record);
}

/** As documents lie in files. */
function indented(text: string): string {
  try {
    return `${JSON.stringify(JSON.parse(text), null, 2)}\n`;
  } catch {
    return text;
  }
}

/** Writes that a person has had the first words. */
export function greetedSettings(userId: string): { readonly path: string; readonly text: string } {
  const text = JSON.stringify({ version: 1, greetedAt: '2026-01-01T00:00:00.000Z' });
  return { path: `data/users/${userId}/settings.json`, text };
}

/** What waits for a time by the database's clock comes so much nearer. */
const letPass = `
  update discoclaw.work set next_at = next_at - $1::float8 * interval '1 millisecond',
    waiting = coalesce((select jsonb_object_agg(key, value::float8 - $1::float8) from jsonb_each_text(waiting)), '{}')`;

/** Of a key, its content, and its last good copy as it is called in files; of a log, its records. */
const everyRow = `
  select key as path, concat_ws(' ', document::text, encode(content, 'escape'),
    (select string_agg(record::text, ' ') from discoclaw.records where log = entry.id)) as text
  from discoclaw.entries entry
  union all select key || '.bak', former_document::text from discoclaw.entries where former_document is not null
  union all select 'orphans', record::text from discoclaw.records where log not in (select id from discoclaw.entries)
  union all select 'quarantine/' || key, encode(content, 'escape') from discoclaw.quarantine
  union all select 'work/' || person, waiting::text || coalesce(taken::text, '') from discoclaw.work`;
