import pg from 'pg';

import { StoreError, UnusableStoreError } from '../../core/errors.ts';

/**
 * `lost`: the connection or server is gone for now; the statement may have been carried out. `read-only`: for now.
 * `conflict`: rolled back because of another. `refused`: not done, as with a full disk. `unusable`: the operator must
 * mend something, such as the password.
 */
export type Fault = 'lost' | 'read-only' | 'conflict' | 'refused' | 'unusable';

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
  '25006': 'read-only',
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
  const isPasswordMissing = error instanceof Error && error.message.startsWith('SASL:');
  return new DatabaseFault(isPasswordMissing ? 'unusable' : (faults[code] ?? 'lost'), error);
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
