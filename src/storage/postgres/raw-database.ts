import { sql } from 'kysely';

import type { Logger } from '../../core/logger.ts';
import { entryOfBytes, type RawEntry, type RawRecord, type RawStore } from '../raw.ts';
import { createDatabase, type Query, freshNumber, toStoreError } from './database.ts';
import { openTables } from './store.ts';

interface RawRow {
  readonly key: string;
  readonly kind: RawEntry['kind'];
  readonly id: number;
  readonly document: string | null;
  readonly content: Buffer | null;
  readonly highest: number;
}

const patienceMs = 30_000;

/** The database of a stopped bot, for this process alone. @throws {StoreError} where one runs, or it is unusable. */
export async function openRawDatabase(url: string, logger: Logger): Promise<RawStore> {
  const database = createDatabase({ url, logger, connections: 4, patienceMs });
  const session = await orStoreError('opened', () => openTables(database, 'alone', url, logger)).catch(
    async (error: unknown) => {
      await database.close();
      throw error;
    },
  );

  async function recordsOf(logs: readonly number[]): Promise<ReadonlyMap<number, RawRecord[]>> {
    const rows = await database.query(sql<{ log: number; sequence: number; record: string }>`
      select log, sequence, record from discoclaw.records where log = any(${logs}::bigint[]) order by log, sequence`);
    const found = new Map(logs.map((log): [number, RawRecord[]] => [log, []]));
    for (const { log, sequence, record } of rows) found.get(log)?.push({ sequence, json: record });
    return found;
  }

  async function read(keys: readonly string[]): Promise<readonly RawEntry[]> {
    const rows = await database.query(sql<RawRow>`
      select key, kind, id, document, content, highest from discoclaw.entries
      where key = any(${keys}::text[]) order by key`);
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
        database.query(sql<{ key: string }>`select key from discoclaw.entries`),
      );
      return rows.map(({ key }) => key).toSorted();
    },
    read: (keys) => orStoreError('read', () => read(keys)),
    write: (entries) =>
      orStoreError('written', () => database.transaction((query) => writeEntries(query, entries))),
    damagedLines: () => 0,
    whenWritten: () => Promise.resolve(),
    async close() {
      await session.close();
      await database.close();
    },
  };
}

async function writeEntries(query: Query, entries: readonly RawEntry[]): Promise<void> {
  for (const entry of entries)
    if (entry.kind === 'log') await writeLog(query, entry);
    else
      await query(sql`
        insert into discoclaw.entries (key, kind, revision, document, content, bytes)
        values (${entry.key}, ${entry.kind}, ${freshNumber()}, ${entry.kind === 'document' ? entry.text : null}::json,
          ${entry.kind === 'text' ? entry.bytes : null}::bytea,
          ${entry.kind === 'text' ? entry.bytes.length : Buffer.byteLength(entry.text)})
        on conflict (key) do nothing`);
}

async function writeLog(query: Query, { key, records, highest }: RawEntry & { kind: 'log' }): Promise<void> {
  const bytes = records.reduce((sum, { json }) => sum + Buffer.byteLength(json) + 1, 0);
  const [head] = await query(sql<{ id: number }>`
    insert into discoclaw.entries (key, kind, revision, highest, bytes)
    values (${key}, 'log', ${freshNumber()}, ${highest}, ${bytes})
    on conflict (key) do nothing returning id`);
  // A try before has written it.
  if (head === undefined) return;
  const [sequences, texts] = [records.map(({ sequence }) => sequence), records.map(({ json }) => json)];
  await query(sql`
    insert into discoclaw.records (log, sequence, record)
    select ${head.id}, sequence, json::json
    from unnest(${sequences}::bigint[], ${texts}::text[]) as given (sequence, json)`);
}

async function orStoreError<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toStoreError('The database', action, error);
  }
}
