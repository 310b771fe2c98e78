import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { createTemporaryDatabase, type TemporaryDatabase } from '../storage/postgres/temporary-database.ts';
import { startChild } from '../e2e/child.ts';

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

  /** With the configuration of one of several processes that use the database already. */
  async function migrate(...words: readonly string[]) {
    const child = startChild({
      folder,
      arguments: ['migrate', ...words],
      environment: { ...inDatabase(), DISCOCLAW_SHARDS: '4', DISCOCLAW_SHARD_IDS: '0-1' },
    });
    return { code: await child.exited, output: child.output() };
  }

  it('copies what is remembered from files to a database, and says so', async () => {
    await mkdir(join(folder, 'workspace'));
    await writeFile(join(folder, 'workspace', 'SOUL.md'), 'I like canaries.');
    const { code, output } = await migrate('files', database.url);
    expect(output).toContain('1 documents, texts and logs (0 records) are the same in both');
    expect(code).toBe(0);
    expect(await database.everything()).toContain('canaries');
  });
});
