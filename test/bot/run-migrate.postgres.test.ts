import { mkdir, mkdtemp, readFile, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { openMemory } from '../../src/bot/memory-alone.ts';
import { createTemporaryDatabase, type TemporaryDatabase } from '../storage/postgres/temporary-database.ts';
import { aliceId } from '../support/incoming.ts';
import { dmPlace, messageId } from '../support/sessions.ts';
import { startChild } from '../e2e/child.ts';
import { beginningNow } from '../../src/core/writes.ts';

describe('npm run migrate [X4]', () => {
  let database: TemporaryDatabase;
  let folder: string;
  beforeEach(async () => {
    database = await createTemporaryDatabase();
    folder = await mkdtemp(join(tmpdir(), 'discoclaw-migrate-'));
    await mkdir(join(folder, 'data'));
  });
  afterEach(() => database.dispose());

  const files = () => ({
    DISCOCLAW_DATA_DIR: join(folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
  });
  const inDatabase = () => ({ ...files(), DISCOCLAW_STORE: database.url });

  /** With the configuration of a bot that uses the database in several processes already. */
  async function migrate(...words: readonly string[]) {
    const child = startChild({
      folder,
      arguments: ['migrate', ...words],
      environment: { ...inDatabase(), DISCOCLAW_SHARDS: '4', DISCOCLAW_PROCESSES: '2' },
    });
    return { code: await child.exited, output: child.output() };
  }

  async function inFiles(): Promise<string> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const found = entries.filter((entry) => entry.isFile());
    return (await Promise.all(found.map(({ parentPath, name }) => readFile(join(parentPath, name))))).join();
  }

  it('takes along all that somebody may erase afterwards, from files to a database', async () => {
    await remember('I like canary songs', files());
    const { code, output } = await migrate('files', database.url);
    expect(output).toContain('are the same in both');
    expect(code).toBe(0);
    expect(await database.everything()).toContain('canary');
    await erase(inDatabase());
    expect(await database.everything()).not.toContain('canary');
  });

  it('and from a database to files', async () => {
    await remember('I like canary songs', inDatabase());
    expect((await migrate(database.url, 'files')).code).toBe(0);
    expect(await inFiles()).toContain('canary');
    await erase(files());
    expect(await inFiles()).not.toContain('canary');
  });

  it('says what is wrong with its arguments or a store', async () => {
    expect(await migrate('files', 'files')).toEqual({ code: 2, output: 'Source and target are the same.\n' });
    expect((await migrate('files', 'mysql://x')).output).toMatch(/^Name a source and a target/u);
    const bot = await database.open();
    expect(await migrate('files', database.url)).toMatchObject({
      code: 1,
      output: expect.stringContaining('A bot runs on this database: stop it first'),
    });
    await bot.close();
  });
});

async function remember(text: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const { memory, close } = await openMemory(environment);
  await memory.durable.remember(beginningNow(aliceId), {
    text,
    place: dmPlace,
    messageId: messageId(1),
    type: 'manual',
  });
  await close();
}

async function erase(environment: Readonly<Record<string, string>>): Promise<void> {
  const { memory, close } = await openMemory(environment);
  await memory.changes.erase(aliceId, new Date().toISOString());
  await close();
}
