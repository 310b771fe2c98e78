import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { parseJson } from '../../src/core/text.ts';
import { isStray } from '../../src/storage/files/paths.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { startChild } from '../e2e/child.ts';
import { createRecordingLogger } from '../storage/files/temporary-store.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from '../storage/postgres/temporary-database.ts';

const people = 10_000;

it('ten thousand people are the same after they were moved to a database and back, each way killed three times [X4]', async () => {
  const database = await createTemporaryDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-migrate-'));
  const [source, target] = [join(folder, 'source'), join(folder, 'target')];
  const files = filesOfAll();
  for (const [path, text] of files) {
    await mkdir(dirname(join(source, path)), { recursive: true });
    await writeFile(join(source, path), text);
  }
  const began = performance.now();
  await killedThrice(
    () => migrate(folder, source, 'files', database.url),
    async () => (await rowsIn(database)) / files.size,
    files.size,
  );
  const there = performance.now();
  await killedThrice(
    () => migrate(folder, target, database.url, 'files'),
    // Conversations go first.
    async () => (namesIn(join(target, 'sessions')) + namesIn(join(target, 'users'))) / (2 * people),
    files.size,
  );
  const back = performance.now();
  const store = await createFileStore({
    ...foldersOf(target),
    clock: () => new Date(),
    logger: createRecordingLogger([]),
  });
  await store.removeLeftovers();
  await store.close();
  expect(
    readdirSync(target, { recursive: true, encoding: 'utf8' }).filter((path) => isStray(basename(path))),
  ).toEqual([]);
  expect(visibleBelow(target)).toHaveLength(files.size);
  expect(hashesBelow(target)).toEqual(hashesBelow(source));
  process.stdout.write(
    `${files.size} files of ${people} people: there in ${seconds(there - began)}, back in ${seconds(back - there)}\n`,
  );
  await database.dispose();
}, 7_200_000);

async function rowsIn(database: TemporaryDatabase): Promise<number> {
  const [found] = await database.query(`select to_regclass('discoclaw.entries') is not null as there`);
  if (found?.['there'] !== true) return 0;
  const [counted] = await database.query('select count(*) from discoclaw.entries');
  return Number(counted?.['count']);
}

function namesIn(folder: string): number {
  return existsSync(folder) ? readdirSync(folder).length : 0;
}

/** Four files each, in the forms that JSON and databases stumble over. */
function filesOfAll(): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (let index = 0; index < people; index += 1) {
    const id = `1000000000000${String(index).padStart(5, '0')}`;
    const odd = String.raw`\u0000 \ud83d, \udead ${index}`;
    const items = `"items": [ { "text": "${odd}", "__proto__": { "x": ${index} }, "10": "b", "9": "a", "": 0, "ä\\u2028": 1e21 } ]`;
    files.set(`users/${id}/durable.json`, `{\n  "version": 1,\n  ${items}\n}\n`);
    files.set(
      `users/${id}/sessions.json`,
      `{\n  "version": 1,\n  "channels": [\n    "5${id.slice(1)}"\n  ]\n}\n`,
    );
    const lines = [`{"sequence":1,"record":{"text":"${odd}","constructor":"x"}}`, `{"sequence":4}`];
    files.set(`sessions/5${id.slice(1)}/${id}/messages.jsonl`, `${lines.join('\n')}\n`);
    files.set(`users/${id}/notebook/facts/кофе ${index % 7}.md`.replace(' ', '-'), `# ${index}\0 no end`);
  }
  return files;
}

/** Killed at three different depths, by the share that is done, and then let run to its end. */
async function killedThrice(
  start: () => ReturnType<typeof startChild>,
  progress: () => Promise<number>,
  all: number,
): Promise<void> {
  for (const share of [0.2, 0.5, 0.8]) {
    const child = start();
    const end = child.exited.then(() => 'ended');
    while ((await progress()) < share) if ((await Promise.race([end, delay(20)])) === 'ended') break;
    expect(await child.end('SIGKILL')).toBe(null);
  }
  const child = start();
  expect(await child.exited).toBe(0);
  expect(child.output()).toContain(`${all} documents, texts and logs`);
}

function migrate(folder: string, dataDir: string, from: string, to: string) {
  const { dataDir: data, workspaceDir } = foldersOf(dataDir);
  const environment = { DISCOCLAW_DATA_DIR: data, DISCOCLAW_WORKSPACE_DIR: workspaceDir };
  return startChild({ folder, arguments: ['migrate', from, to], environment });
}

const foldersOf = (dataDir: string) => ({ dataDir, workspaceDir: `${dataDir}-workspace` });

function visibleBelow(folder: string) {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.startsWith('.'));
}

function hashesBelow(folder: string): ReadonlyMap<string, string> {
  const found = visibleBelow(folder).map(({ parentPath, name }): [string, string] => {
    const path = join(parentPath, name);
    const text = asRead(path, readFileSync(path, 'utf8'));
    return [path.slice(folder.length), createHash('sha256').update(text).digest('hex')];
  });
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whatever the layout of its JSON, which the bot mends as it reads it. */
function asRead(path: string, text: string): string {
  if (path.endsWith('.json')) return JSON.stringify(parseJson(text));
  if (!path.endsWith('.jsonl')) return text;
  const lines = text.trimEnd().split('\n');
  return lines.map((line) => JSON.stringify(parseJson(line))).join('\n');
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(0)} s`;
