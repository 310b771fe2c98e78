import type { Logger } from '../../core/logger.ts';
import { entryOfBytes, type RawEntry, type RawRecord, type RawStore } from '../raw.ts';
import { createDatabase, type Query } from './database.ts';
import { freshNumber } from './entries.ts';
import { toStoreError } from './faults.ts';
import { openSession } from './session.ts';
import { migrate } from './migrations.ts';

interface RawRow {
  readonly key: string;
  readonly kind: RawEntry['kind'];
  readonly id: number;
  readonly document: string | null;
  readonly content: Buffer | null;
  readonly highest: number;
}

const patienceMs = 30_000;

/** A database on which no bot runs, for this process alone until it is closed. @throws {StoreError} where one does, or it cannot be used. */
export async function openRawDatabase(url: string, logger: Logger): Promise<RawStore> {
  const session = await orStoreError('opened', () => openSession(url, 'alone', logger));
  const database = createDatabase({ url, logger, connections: 4, patienceMs });
  async function close(): Promise<void> {
    await session.close();
    await database.close();
  }
  try {
    await orStoreError('opened', () => migrate(url));
  } catch (error) {
    await close();
    throw error;
  }

  async function recordsOf(logs: readonly number[]): Promise<ReadonlyMap<number, RawRecord[]>> {
    const rows = await database.query<{ log: number; sequence: number; record: string }>({
      text: 'select log, sequence, record from discoclaw.records where log = any($1::bigint[]) order by log, sequence',
      values: [logs],
    });
    const found = new Map(logs.map((log): [number, RawRecord[]] => [log, []]));
    for (const { log, sequence, record } of rows) found.get(log)?.push({ sequence, json: record });
    return found;
  }

  async function read(keys: readonly string[]): Promise<readonly RawEntry[]> {
    const rows = await database.query<RawRow>({
      text: `
        select key, kind, id, document, content, highest from discoclaw.entries
        where key = any($1::text[]) order by key`,
      values: [keys],
    });
    const records = await recordsOf(rows.filter(({ kind }) => kind === 'log').map(({ id }) => id));
    return rows.map(({ key, kind, id, document, content, highest }) => {
      if (kind === 'log') return { kind, key, records: records.get(id) ?? [], highest };
      // A document that was written as a text is one all the same.
      return entryOfBytes(key, document === null ? (content ?? Buffer.alloc(0)) : Buffer.from(document));
    });
  }

  return {
    async keys() {
      const rows = await orStoreError('read', () =>
        database.query<{ key: string }>({ text: 'select key from discoclaw.entries' }),
      );
      return rows.map(({ key }) => key).toSorted();
    },
    read: (keys) => orStoreError('read', () => read(keys)),
    write: (entries) =>
      orStoreError('written', () => database.transaction((query) => writeEntries(query, entries))),
    damagedLines: () => 0,
    settle: () => Promise.resolve(),
    close,
  };
}

async function writeEntries(query: Query, entries: readonly RawEntry[]): Promise<void> {
  const documents = entries.filter((entry) => entry.kind === 'document');
  await query({
    text: `
      insert into discoclaw.entries (key, kind, revision, document, bytes)
      select key, 'document', $3, document::json, octet_length(document) from unnest($1::text[], $2::text[]) as given (key, document)
      on conflict (key) do nothing`,
    values: [documents.map(({ key }) => key), documents.map(({ text }) => text), freshNumber()],
  });
  const texts = entries.filter((entry) => entry.kind === 'text');
  await query({
    text: `
      insert into discoclaw.entries (key, kind, revision, content, bytes)
      select key, 'text', $3, content, octet_length(content) from unnest($1::text[], $2::bytea[]) as given (key, content)
      on conflict (key) do nothing`,
    values: [texts.map(({ key }) => key), texts.map(({ bytes }) => bytes), freshNumber()],
  });
  for (const log of entries) if (log.kind === 'log') await writeLog(query, log);
}

async function writeLog(query: Query, { key, records, highest }: RawEntry & { kind: 'log' }): Promise<void> {
  const bytes = records.reduce((sum, { json }) => sum + Buffer.byteLength(json) + 1, 0);
  const [head] = await query<{ id: number }>({
    text: `
      insert into discoclaw.entries (key, kind, revision, highest, bytes) values ($1, 'log', $2, $3, $4)
      on conflict (key) do nothing returning id`,
    values: [key, freshNumber(), highest, bytes],
  });
  // A try before has written it.
  if (head === undefined) return;
  await query({
    text: `
      insert into discoclaw.records (log, sequence, token, record)
      select $1, sequence, $4, json::json from unnest($2::bigint[], $3::text[]) as given (sequence, json)`,
    values: [
      head.id,
      records.map(({ sequence }) => sequence),
      records.map(({ json }) => json),
      freshNumber(),
    ],
  });
}

async function orStoreError<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError('The database', action, error);
  }
}
