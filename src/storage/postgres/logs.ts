import type { z } from 'zod';

import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { LogEntry, LogState, RewrittenLog } from '../../core/store.ts';
import { parseJson } from '../../core/text.ts';
import { createTimeSlice } from '../../core/time.ts';
import { formatRecord } from '../document-text.ts';
import type { KeyLocks } from '../key-locks.ts';
import { createBatches } from './batches.ts';
import type { Database, Query } from './database.ts';
import { freshNumber } from './entries.ts';
import { assertHeld } from './session.ts';

interface LogParts {
  readonly database: Database;
  readonly locks: KeyLocks;
  readonly logger: Logger;
}

interface WaitingRecord {
  readonly json: string;
  readonly isLost: () => boolean;
  readonly resolve: (sequence: number) => void;
  readonly reject: (reason: unknown) => void;
}

/** Records for the end of one log. */
interface Addition {
  readonly log: string;
  readonly records: readonly string[];
  /** Whether a lock that one of its writers relies on was lost: then it is not made. */
  readonly isLost: () => boolean;
}

interface RecordRow {
  readonly sequence: number;
  readonly record: string;
}

const mostLogsAtOnce = 200;
const batchesAtOnce = 4;

/** Logs, their records as rows. */
export function createLogs({ database, locks, logger }: LogParts) {
  const waiting = new Map<string, WaitingRecord[]>();
  const add = createBatches<Addition, number>({
    atOnce: batchesAtOnce,
    most: mostLogsAtOnce,
    run: (additions) => addAll(database, additions),
  });
  const logState = createBatches<string, LogState>({
    atOnce: batchesAtOnce,
    most: mostLogsAtOnce,
    async run(logs) {
      const rows = await database.query<{ place: number } & LogState>({
        name: 'state of logs',
        text: `
          select asked.place::int as place, coalesce((select max(sequence) from discoclaw.records where log = entry.id), 0) as last,
            entry.revision as edition
          from unnest($1::text[]) with ordinality as asked (key, place)
          join discoclaw.entries entry on entry.key = asked.key and entry.kind = 'log'`,
        values: [logs],
      });
      const found: LogState[] = logs.map(() => ({ last: 0, edition: 0 }));
      for (const { place, last, edition } of rows) found[place - 1] = { last, edition };
      return found;
    },
  });

  /** Writers that wait for the same log go together, and so do those of other logs. */
  function append(log: string, record: object, isLost: () => boolean): Promise<number> {
    return new Promise((resolve, reject) => {
      const json = formatRecord(record);
      const batch = waiting.get(log) ?? [];
      waiting.set(log, batch);
      batch.push({ json, isLost, resolve, reject });
      // Whichever turn comes first takes all that wait by then; the others find nothing left to do.
      if (batch.length === 1) locks.run(log, () => flush(log)).catch(reject);
    });
  }

  async function flush(log: string): Promise<void> {
    const batch = waiting.get(log) ?? [];
    waiting.delete(log);
    try {
      const isLost = (): boolean => batch.some((record) => record.isLost());
      const first = await add({ log, records: batch.map(({ json }) => json), isLost });
      if (first === notMade) assertHeld(log, () => true);
      for (const [index, { resolve }] of batch.entries()) resolve(first + index);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function* scan<T>(log: string, schema: z.ZodType<T>, after: number): AsyncGenerator<LogEntry<T>> {
    const rows = await database.query<RecordRow>({
      name: 'scan',
      text: `
        select record.sequence, record.record
        from discoclaw.records record join discoclaw.entries entry on entry.id = record.log
        where entry.key = $1 and entry.kind = 'log' and record.sequence > $2 order by record.sequence`,
      values: [log, after],
    });
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
    isLost: () => boolean,
  ): Promise<RewrittenLog> {
    return locks.run(log, () =>
      database.transaction(async (query) => {
        assertHeld(log, isLost);
        const whole = await readLocked(query, log);
        if (whole === undefined) return { from: 0, to: 0 };
        const { id, revision: from } = whole;
        const changes = await changesOf(whole.rows, schema, change);
        if (changes.removed.length + changes.changed.length === 0) return { from, to: from };
        assertHeld(log, isLost);
        return { from, to: await carryOut(query, id, changes) };
      }),
    );
  }

  return { append, scan, logState, rewrite };
}

/** Instead of the number of a record. */
const notMade = 0;

/** Adds to several logs at once, all or none but those whose lock was lost; resolves with the number of the first record of each, or `notMade`. */
function addAll(database: Database, additions: readonly Addition[]): Promise<readonly number[]> {
  // In one order everywhere, so that two processes never wait for each other.
  const sorted = additions.toSorted((a, b) => (a.log < b.log ? -1 : 1));
  const token = freshNumber();
  return database.persist(async (query, isUncertain) => {
    const firsts = new Map<Addition, number>();
    const earlier = isUncertain ? await addedBefore(query, sorted, token) : [];
    const made = earlier.length > 0 ? sorted : sorted.filter(({ isLost }) => !isLost());
    const rows = earlier.length > 0 || made.length === 0 ? earlier : await addTo(query, made, token);
    for (const { place, first } of rows) {
      const addition = made[place - 1];
      if (addition !== undefined) firsts.set(addition, first);
    }
    if (earlier.length === 0 && firsts.size < made.length)
      throw new StoreError('not all that was to be added to logs was added', made[0]?.log ?? '.');
    return additions.map((addition) => firsts.get(addition) ?? notMade);
  });
}

function addTo(query: Query, additions: readonly Addition[], token: number) {
  const sizes = additions.map(({ records }) =>
    records.reduce((sum, record) => sum + Buffer.byteLength(record) + 1, 0),
  );
  return query<{ place: number; first: number }>({
    name: 'append',
    text: appendRecords,
    values: [
      additions.map(({ log }) => log),
      additions.map(({ records }) => records.length),
      sizes,
      additions.flatMap(({ records }, index) => records.map(() => index + 1)),
      additions.flatMap(({ records }) => records),
      token,
      freshNumber(),
    ],
  });
}

/** What a try added whose answer was lost; none where it did not come to it. */
async function addedBefore(query: Query, additions: readonly Addition[], token: number) {
  // The server may be at it still, such as where it waits for a log that another process changes: it is over when the lock that it has is free.
  await query({ text: 'select pg_advisory_xact_lock($1)', values: [token] });
  return query<{ place: number; first: number }>({
    text: `
      select asked.place::int as place, min(record.sequence) as first
      from unnest($1::text[]) with ordinality as asked (key, place)
      join discoclaw.entries entry on entry.key = asked.key
      join discoclaw.records record on record.log = entry.id and record.token = $2
      group by asked.place`,
    values: [additions.map(({ log }) => log), token],
  });
}

const appendRecords = `
  with locked as materialized (select pg_advisory_xact_lock($6::bigint)), asked as (
    select key, count, bytes, place
    from locked, unnest($1::text[], $2::bigint[], $3::bigint[]) with ordinality as asked (key, count, bytes, place)
  ), grown as (
    insert into discoclaw.entries as entry (key, kind, revision, highest, bytes)
    select key, 'log', $7::bigint, count, bytes from asked order by place
    on conflict (key) do update set
      highest = entry.highest + excluded.highest, bytes = entry.bytes + excluded.bytes, changed_at = now()
    returning key, id, highest
  ), added as (
    insert into discoclaw.records (log, sequence, token, record)
    select grown.id, grown.highest - asked.count + row_number() over (partition by asked.place order by line.nth),
      $6::bigint, line.json::json
    from unnest($4::bigint[], $5::text[]) with ordinality as line (place, json, nth)
    join asked on asked.place = line.place
    join grown on grown.key = asked.key
  )
  select asked.place::int as place, grown.highest - asked.count + 1 as first
  from grown join asked on asked.key = grown.key`;

interface WholeLog {
  readonly id: number;
  readonly revision: number;
  readonly highest: number;
  readonly rows: readonly RecordRow[];
}

/** In a transaction, until whose end nobody else changes the log. */
async function readLocked(query: Query, log: string): Promise<WholeLog | undefined> {
  const [head] = await query<Omit<WholeLog, 'rows'>>({
    text: `
      select id, revision, highest from discoclaw.entries where key = $1 and kind = 'log' for update`,
    values: [log],
  });
  if (head === undefined) return undefined;
  const rows = await query<RecordRow>({
    text: 'select sequence, record from discoclaw.records where log = $1 order by sequence',
    values: [head.id],
  });
  return { ...head, rows };
}

/** Resolves with the new edition. */
async function carryOut(query: Query, id: number, { removed, changed, bytes }: Changes): Promise<number> {
  if (removed.length > 0)
    await query({
      text: 'delete from discoclaw.records where log = $1 and sequence = any($2::bigint[])',
      values: [id, removed],
    });
  if (changed.length > 0)
    await query({
      text: `
        update discoclaw.records record set record = changed.json::json
        from unnest($2::bigint[], $3::text[]) as changed (sequence, json)
        where record.log = $1 and record.sequence = changed.sequence`,
      values: [id, changed.map(({ sequence }) => sequence), changed.map(({ json }) => json)],
    });
  const revision = freshNumber();
  await query({
    text: `
      update discoclaw.entries set revision = $2, previous = revision, bytes = $3, changed_at = now()
      where id = $1`,
    values: [id, revision, bytes],
  });
  return revision;
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
    const parsed = schema.safeParse(parseJson(record));
    let json = record;
    if (parsed.success) {
      const before = formatRecord(parsed.data);
      const next = change({ sequence, record: parsed.data });
      if (next === undefined) {
        removed.push(sequence);
        continue;
      }
      const after = formatRecord(next);
      if (after !== before) {
        changed.push({ sequence, json: after });
        json = after;
      }
    }
    bytes += Buffer.byteLength(json) + 1;
  }
  return { removed, changed, bytes };
}
