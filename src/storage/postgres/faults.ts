import pg from 'pg';

import { StoreError, UnusableStoreError } from '../../core/errors.ts';

/**
 * What a failed call to the database means. `lost`: the connection, or the server, for now; the statement may have been carried out all the same.
 * `read-only`: the server only reads for now. `conflict`: it was rolled back because of another's at the same time. `refused`: it is not done, such as with
 * a full disk. `unusable`: nothing helps before the operator mends something, such as the password.
 */
export type Fault = 'lost' | 'read-only' | 'conflict' | 'refused' | 'unusable';

/** A call to the database failed. */
export class DatabaseFault extends Error {
  override readonly name = 'DatabaseFault';
  readonly fault: Fault;
  constructor(fault: Fault, cause: unknown) {
    super(reasonOf(cause), { cause });
    this.fault = fault;
  }
}

/** By PostgreSQL's error codes (SQLSTATE), as far as they are not of their whole class. */
const faults: Readonly<Record<string, Fault>> = {
  '28000': 'unusable',
  '28P01': 'unusable',
  '3D000': 'unusable',
  '42501': 'unusable',
  // Serialization failure, deadlock, lock not available.
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'conflict',
  // A standby that was the primary a moment ago, or will be: another connection finds the new one.
  '25006': 'read-only',
  // A transaction whose process stood still, and is over.
  '25P03': 'lost',
  '53300': 'lost',
  '57P03': 'lost',
  '57P01': 'lost',
  '57P02': 'lost',
  '57P05': 'lost',
};

/** A connection could not be had. */
export function connectFault(error: unknown): DatabaseFault {
  const code = error instanceof pg.DatabaseError ? (error.code ?? '') : '';
  const isPasswordMissing = error instanceof Error && error.message.startsWith('SASL:');
  return new DatabaseFault(isPasswordMissing ? 'unusable' : (faults[code] ?? 'lost'), error);
}

/** A statement failed; what the driver finds out by itself, without the server's word, is that the connection is gone. */
export function queryFault(error: unknown): DatabaseFault {
  if (!(error instanceof pg.DatabaseError)) return new DatabaseFault('lost', error);
  const code = error.code ?? '';
  return new DatabaseFault(faults[code] ?? (code.startsWith('08') ? 'lost' : 'refused'), error);
}

/** The failure as callers of the store see it: a `StoreError` for a key. What is none of the database's passes as it is. */
export function toStoreError(key: string, action: string, error: unknown): unknown {
  if (!(error instanceof DatabaseFault)) return error;
  const Kind = error.fault === 'unusable' ? UnusableStoreError : StoreError;
  return new Kind(`${key} could not be ${action} (the database: ${error.message})`, key, { cause: error });
}

/** In which words the server, the system or the driver says it; of what was to be stored the server may tell a part, for which only its code stands. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  if (!(error instanceof Error)) return String(error);
  if (!(error instanceof pg.DatabaseError)) return error.message;
  const { code = '', message } = error;
  return /^(?:28|3D|42501|53|57|25)/u.test(code) ? `${message}, ${code}` : code;
}
