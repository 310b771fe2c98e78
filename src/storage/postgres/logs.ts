import type { z } from 'zod';

import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { LogEntry, LogState } from '../../core/store.ts';
import { parseJson } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import { formatRecord, rewrittenRecord } from '../document-text.ts';
import type { KeyLocks } from '../key-locks.ts';
import { type Database, type Query, freshNumber, sql } from './database.ts';

interface LogParts {
  readonly database: Database;
  readonly locks: KeyLocks;
  readonly logger: Logger;
}

interface RecordRow {
  readonly sequence: number;
  readonly record: string;
}

export function createLogs({ database, locks, logger }: LogParts) {
  async function logState(log: string): Promise<LogState> {
    const [state] = await database.query(sql<LogState>`
      select coalesce((select max(sequence) from discoclaw.records where log = entry.id), 0) as last, revision as edition, highest
      from discoclaw.entries entry where key = ${log} and kind = 'log'`);
    return state ?? { last: 0, edition: 0, highest: 0 };
  }

  async function append(log: string, record: object): Promise<number> {
    const json = formatRecord(record);
    const bytes = Buffer.byteLength(json) + 1;
    return locks.run(log, () =>
      database.transaction(async (query) => {
        const [added] = await query(sql<{ sequence: number }>`
            with head as (
              insert into discoclaw.entries as entry (key, kind, revision, highest, bytes)
              values (${log}, 'log', ${freshNumber()}, 1, ${bytes})
              on conflict (key) do update set
                highest = entry.highest + 1, bytes = entry.bytes + excluded.bytes, changed_at = now()
              returning id, highest
            )
            insert into discoclaw.records (log, sequence, record) select id, highest, ${json}::json from head
            returning sequence`);
        if (added === undefined) throw new StoreError(`${log} was not appended to`, log);
        return added.sequence;
      }),
    );
  }

  async function* scan<T>(
    log: string,
    schema: z.ZodType<T>,
    { after = 0 }: { readonly after?: number } = {},
  ): AsyncGenerator<LogEntry<T>> {
    const rows = await database.query(sql<RecordRow>`
      select record.sequence, record.record
      from discoclaw.records record join discoclaw.entries entry on entry.id = record.log
      where entry.key = ${log} and entry.kind = 'log' and record.sequence > ${after} order by record.sequence`);
    let skipped = 0;
    const pause = createTimeSlice();
    try {
      for (const { sequence, record } of rows) {
        await pause();
        const parsed = schema.safeParse(parseJson(record));
        if (parsed.success) yield { sequence, record: parsed.data };
        else skipped += 1;
      }
    } finally {
      if (skipped > 0) logger.warn('log lines skipped', { log, skipped });
    }
  }

  /** Erases what it replaces [S7]. Records that `schema` refuses stay as they are. */
  async function rewrite<T>(
    log: string,
    schema: z.ZodType<T>,
    change: (entry: LogEntry<T>) => T | undefined,
  ): Promise<void> {
    return locks.run(log, () =>
      database.transaction(async (query) => {
        // Nobody else changes the log until the end of the transaction.
        const [head] = await query(sql<{ id: number }>`
          select id from discoclaw.entries where key = ${log} and kind = 'log' for update`);
        if (head === undefined) return;
        const rows = await query(sql<RecordRow>`
          select sequence, record from discoclaw.records where log = ${head.id} order by sequence`);
        const changes = await changesOf(rows, schema, change);
        if (changes.removed.length + changes.changed.length > 0) await carryOut(query, head.id, changes);
      }),
    );
  }

  return { append, scan, logState, rewrite };
}

async function carryOut(query: Query, id: number, { removed, changed, bytes }: Changes): Promise<void> {
  if (removed.length > 0)
    await query(sql`
      delete from discoclaw.records where log = ${id} and sequence = any(${removed}::bigint[])`);
  const [sequences, texts] = [changed.map(({ sequence }) => sequence), changed.map(({ json }) => json)];
  if (changed.length > 0)
    await query(sql`
      update discoclaw.records record set record = changed.json::json
      from unnest(${sequences}::bigint[], ${texts}::text[]) as changed (sequence, json)
      where record.log = ${id} and record.sequence = changed.sequence`);
  await query(sql`
    update discoclaw.entries set revision = ${freshNumber()}, bytes = ${bytes}, changed_at = now() where id = ${id}`);
}

interface Changes {
  readonly removed: readonly number[];
  readonly changed: readonly { readonly sequence: number; readonly json: string }[];
  /** Of the whole log afterwards. */
  readonly bytes: number;
}

async function changesOf<T>(
  rows: readonly RecordRow[],
  schema: z.ZodType<T>,
  change: (entry: LogEntry<T>) => T | undefined,
): Promise<Changes> {
  const removed: number[] = [];
  const changed: { sequence: number; json: string }[] = [];
  let bytes = 0;
  const pause = createTimeSlice();
  for (const { sequence, record } of rows) {
    await pause();
    const json = rewrittenRecord({ sequence, record: parseJson(record) }, schema, change);
    if (json === undefined) removed.push(sequence);
    else bytes += Buffer.byteLength(json === false ? record : json) + 1;
    if (typeof json === 'string') changed.push({ sequence, json });
  }
  return { removed, changed, bytes };
}
