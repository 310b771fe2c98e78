import { randomInt } from 'node:crypto';

import pg from 'pg';

import { StoreError, UnusableStoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { growingPause, retry } from '../../core/time.ts';

/** As `pg` takes it; `Row` is what it gives. */
export interface Statement<Row> {
  readonly text: string;
  readonly values: readonly unknown[];
  /** Never there: only for the compiler. */
  readonly row?: Row;
}

/** Binds what is inserted as values. */
export function sql<Row = unknown>(
  strings: TemplateStringsArray,
  ...values: readonly unknown[]
): Statement<Row> {
  return { text: strings.reduce((text, piece, index) => `${text}$${index}${piece}`), values };
}

/**
 * `lost`: the connection or server is gone for now; the statement may have been carried out. `conflict`: rolled back
 * because of another. `refused`: not done, as with a full disk. `unusable`: the operator must mend something, such as
 * the password.
 */
export type Fault = 'lost' | 'conflict' | 'refused' | 'unusable';

export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  readonly fault: Fault;
  constructor(fault: Fault, cause: unknown) {
    super(reasonOf(cause), { cause });
    this.fault = fault;
  }
}

/** By PostgreSQL's error codes (SQLSTATE) that differ from their class. */
const faults: Readonly<Record<string, Fault>> = {
  '28000': 'unusable',
  '28P01': 'unusable',
  '3D000': 'unusable',
  '42501': 'unusable',
  // Serialization failure, deadlock, lock not available.
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'conflict',
  // A standby that was or will be the primary: another connection finds the new one.
  '25006': 'lost',
  // The transaction of a process that stalled.
  '25P03': 'lost',
  '53300': 'lost',
  '57P03': 'lost',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P05': 'lost',
};

export function connectFault(error: unknown): DatabaseFault {
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  return new DatabaseFault(isForOperator(error) ? 'unusable' : (faults[code] ?? 'lost'), error);
}

/** A password or encryption that the two sides do not agree on, which no waiting mends. */
function isForOperator(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const isTls =
    'code' in error && /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_|SELF_|UNABLE_TO_)/u.test(String(error.code));
  return isTls || /^SASL:|does not support SSL/u.test(error.message);
}

/** An error without the server's word means that the connection is gone. */
export function queryFault(error: unknown): DatabaseFault {
  if (!(error instanceof pg.DatabaseError)) return new DatabaseFault('lost', error);
  const code = error.code ?? '';
  return new DatabaseFault(faults[code] ?? (code.startsWith('08') ? 'lost' : 'refused'), error);
}

/** Makes a fault a `StoreError` for a key; other errors pass. */
export function toStoreError(key: string, action: string, error: unknown): unknown {
  if (!(error instanceof DatabaseFault)) return error;
  const Kind = error.fault === 'unusable' ? UnusableStoreError : StoreError;
  return new Kind(`${key} could not be ${action} (the database: ${error.message})`, key, { cause: error });
}

/** What the server, system or driver says; where the server may quote stored data, only its code. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof pg.DatabaseError)) return error.message;
  const { code = '', message } = error;
  return /^(?:28|3D|42501|53|57|25)/u.test(code) ? `${message}, ${code}` : code;
}

export type Query = <Row>(statement: Statement<Row>) => Promise<readonly Row[]>;

export interface DatabaseOptions {
  readonly url: string;
  readonly logger: Logger;
  readonly connections: number;
  /** How long, in milliseconds since the database was last reached, failures are retried; then each fails at once. */
  readonly patienceMs: number;
  /** The longest wait for an answer in milliseconds: a machine that is gone says nothing. Default: a minute. */
  readonly answerMs?: number | undefined;
  /** Asked before a transaction takes effect; throws where it may not any more. */
  readonly assertHeld?: () => void;
}

export type Database = ReturnType<typeof createDatabase>;

const connectMs = 5000;
const longestAnswerMs = 60_000;

const firstPauseMs = 25;
const longestPauseMs = 1000;
const mostConflicts = 50;

/** Lost connections are replaced. While the database is away, within the patience, calls only take longer [S2]. */
export function createDatabase(options: DatabaseOptions) {
  const { url, logger, connections, patienceMs, answerMs, assertHeld = () => {} } = options;
  const pool = new pg.Pool({ ...poolOptions(url, answerMs), max: connections, idleTimeoutMillis: 60_000 });
  // An unused connection was lost: the next use makes another.
  pool.on('error', (error) =>
    logger.debug('a connection to the database was lost', { error: error.message }),
  );
  const outage = createOutage(logger, 'the database is out of reach', 'the database can be reached again');

  async function connected<T>(work: (query: Query) => Promise<T>): Promise<T> {
    const client = await pool.connect().catch((error: unknown) => {
      throw connectFault(error);
    });
    let isBroken = false;
    const query: Query = async <Row>(statement: Statement<Row>) => {
      const { text, values } = statement;
      try {
        const { rows } = await client.query<Row & pg.QueryResultRow>({ text, values: [...values] });
        return rows;
      } catch (error) {
        const fault = queryFault(error);
        isBroken ||= fault.fault === 'lost';
        throw fault;
      }
    };
    client.on('error', overlook);
    try {
      return await work(query);
    } finally {
      client.off('error', overlook);
      client.release(isBroken);
    }
  }

  /** Tries as long as there is sense in it. Rejects with `DatabaseFault`, or as `work` does. */
  async function persist<T>(work: (query: Query) => Promise<T>): Promise<T> {
    let conflicts = 0;
    function pauseAfter(error: unknown, failures: number): number {
      if (!(error instanceof DatabaseFault)) throw error;
      const { fault } = error;
      if (fault === 'refused' || fault === 'unusable') throw error;
      const spread = 0.5 + Math.random();
      if (fault === 'conflict') {
        conflicts += 1;
        if (conflicts > mostConflicts) throw error;
        return firstPauseMs * spread;
      }
      const leftMs = patienceMs - (performance.now() - outage.begin(error.message));
      if (leftMs <= 0) throw error;
      return Math.min(leftMs, growingPause(failures - conflicts, firstPauseMs, longestPauseMs) * spread);
    }

    const result = await retry(() => connected(work), pauseAfter);
    outage.end();
    return result;
  }

  /** All of it or nothing. `work` may run again, and must have no effects of its own. */
  async function transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    /** Sent without an answer: it may be committed. */
    let sent: { readonly id: string; readonly result: T } | undefined;
    return persist(async (query) => {
      if (sent !== undefined && (await wasCommitted(query, sent.id))) return sent.result;
      sent = undefined;
      assertHeld();
      await query(sql`begin isolation level read committed`);
      try {
        const result = await work(query);
        const [{ id } = { id: null }] = await query(
          sql<{ id: string | null }>`select pg_current_xact_id_if_assigned()::text as id`,
        );
        assertHeld();
        if (id !== null) sent = { id, result };
        await query(sql`commit`);
        return result;
      } catch (error) {
        // Where the connection is gone, so is the transaction.
        await query(sql`rollback`).catch(() => undefined);
        throw error;
      }
    });
  }

  return {
    /** One atomic statement, which may run twice. */
    query: <Row>(statement: Statement<Row>) => persist((query) => query(statement)),
    transaction,
    close: () => pool.end(),
  };
}

/** Something that does not work for now: it is told once, and when it works again. */
export function createOutage(logger: Logger, began: string, ended: string) {
  let since: number | undefined;
  return {
    /** Since when, in milliseconds of this process. */
    begin(reason: unknown): number {
      if (since === undefined) logger.warn(began, { reason: String(reason) });
      return (since ??= performance.now());
    },
    end(): void {
      if (since === undefined) return;
      logger.info(ended, { seconds: Math.round((performance.now() - since) / 1000) });
      since = undefined;
    },
  };
}

/** Rejects where the server does not know, or not yet. */
async function wasCommitted(query: Query, id: string): Promise<boolean> {
  const [{ status } = { status: null }] = await query(
    sql<{ status: string | null }>`select pg_xact_status(${id}::xid8) as status`,
  );
  if (status === 'in progress') throw new DatabaseFault('lost', new Error('a commit is under way'));
  if (status === null) throw new StoreError('it is not known whether a change was stored', '.');
  return status === 'committed';
}

/** A lost connection shows at the next statement. */
function overlook(): void {}

/** The server gives up before the client: nothing that counts as failed is carried out. */
function poolOptions(url: string, answerMs = longestAnswerMs): pg.PoolConfig {
  const statementMs = Math.round((answerMs * 11) / 12);
  const idleMs = Math.round(answerMs / 12);
  // As statements: a pooler refuses unknown options at the start of a connection.
  const limits = `set statement_timeout = ${statementMs}; set idle_in_transaction_session_timeout = ${idleMs}`;
  return {
    ...connectionOptions(url),
    query_timeout: answerMs,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, which its types do not say
    onConnect: (client) => client.query(limits),
  };
}

export function connectionOptions(url: string): pg.ClientConfig {
  return {
    connectionString: url,
    fallback_application_name: 'discoclaw',
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types: { getTypeParser: typeParser },
  };
}

const int8Type: number = pg.types.builtins.INT8;
const jsonType: number = pg.types.builtins.JSON;

/** Whole numbers as such, and JSON as its text. */
const typeParser: typeof pg.types.getTypeParser = (id: number, format?: 'text' | 'binary') => {
  if (format !== 'binary' && id === int8Type) return Number;
  if (format !== 'binary' && id === jsonType) return String;
  return pg.types.getTypeParser(id, format ?? 'text');
};

/** Unique, as a revision or fence. */
export function freshNumber(): number {
  return randomInt(1, 2 ** 48 - 1);
}
