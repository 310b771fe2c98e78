import { randomBytes } from 'node:crypto';

import pg from 'pg';
import { inject } from 'vitest';

import {
  createPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
} from '../../../src/storage/postgres/store.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

/** Databases that were used before, and are empty again: to make one takes a while. */
const spare: string[] = [];

async function makeDatabase(): Promise<string> {
  const server = inject('databaseUrl') ?? '';
  const name = `discoclaw_test_${randomBytes(6).toString('hex')}`;
  await once(server, `create database ${name}`);
  const own = new URL(server);
  own.pathname = `/${name}`;
  return own.href;
}

/** A database of its own on the tests' server, emptied afterwards. */
export interface TemporaryDatabase {
  readonly url: string;
  readonly logger: RecordingLogger;
  open(options?: Partial<PostgresStoreOptions>): Promise<PostgresStore>;
  /** Every row of every table, as one text. */
  everything(): Promise<string>;
  /** One statement beside the store. */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** A connection of one's own, to be ended by the caller. */
  connect(): Promise<pg.Client>;
  dispose(): Promise<void>;
}

export async function createTemporaryDatabase(): Promise<TemporaryDatabase> {
  const url = spare.pop() ?? (await makeDatabase());
  const logger = new RecordingLogger();
  const opened: PostgresStore[] = [];
  const query = (text: string, values: readonly unknown[] = []) => once(url, text, values);
  async function tables(): Promise<readonly string[]> {
    const found = await query(
      `select relname from pg_class where relnamespace = to_regnamespace('discoclaw') and relkind = 'r'`,
    );
    return found.map(({ relname }) => String(relname));
  }

  return {
    url,
    logger,
    query,
    connect: () => connected(url),
    async open(options = {}) {
      const store = await createPostgresStore({ url, logger, ...options });
      opened.push(store);
      return store;
    },
    async everything() {
      const rows = await Promise.all(
        (await tables()).map((table) => query(`select * from discoclaw.${table}`)),
      );
      const texts = rows.flat().flatMap((row) => Object.values(row).map(textOf));
      return texts.join('\n');
    },
    async dispose() {
      for (const store of opened) await store.close();
      await query(emptyAll);
      spare.push(url);
    },
  };
}

/** Empties every table. */
const emptyAll = `
  do $$ declare name text; begin
    for name in
      select relname from pg_class where relnamespace = to_regnamespace('discoclaw') and relkind = 'r'
    loop execute 'delete from discoclaw.' || name; end loop;
  end $$`;

function textOf(value: unknown): string {
  return Buffer.isBuffer(value)
    ? value.toString('latin1') + value.toString('utf8')
    : (JSON.stringify(value) ?? '');
}

async function connected(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function once(url: string, text: string, values: readonly unknown[] = []) {
  const client = await connected(url);
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
