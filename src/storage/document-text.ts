import { z } from 'zod';

import { NewerVersionError, StoreError } from '../core/errors.ts';
import type { DocumentKind, LogEntry, Versioned } from '../core/store.ts';
import { parseJson } from '../core/text.ts';

/** `reason` holds no content: it goes into the log. */
export type ParsedDocument<T> =
  | { readonly outcome: 'valid'; readonly value: T }
  | { readonly outcome: 'damaged'; readonly reason: string };

/** As it will be read, frozen. @throws {StoreError} where it could not be read again. */
export function checkedDocument<T extends Versioned>(key: string, kind: DocumentKind<T>, document: T): T {
  const parsed = parseDocument(key, JSON.stringify(document), kind);
  if (parsed.outcome === 'damaged') throw new StoreError(`${key} was not stored: ${parsed.reason}`, key);
  return parsed.value;
}

/** The value is deeply frozen [S4]. @throws {NewerVersionError} where a newer program wrote it. */
export function parseDocument<T extends Versioned>(
  key: string,
  text: string,
  kind: DocumentKind<T>,
): ParsedDocument<T> {
  let data: unknown;
  try {
    data = parseJson(text);
  } catch {
    return { outcome: 'damaged', reason: text.trim() === '' ? 'empty' : 'not JSON' };
  }
  const version = z.object({ version: z.number() }).safeParse(data).data?.version;
  if (version !== undefined && version > kind.version)
    throw new NewerVersionError(key, version, kind.version);
  const parsed = kind.schema.safeParse(data);
  if (!parsed.success) {
    const codes = new Set(parsed.error.issues.map((issue) => issue.code));
    return { outcome: 'damaged', reason: `refused by the schema (${[...codes].join(', ')})` };
  }
  return { outcome: 'valid', value: freezeDeep(parsed.data) };
}

/** Indented, because people read and edit it [S5]. */
export function formatDocument(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** @throws {TypeError} for a value that JSON cannot express as an object. */
export function formatRecord(record: unknown): string {
  const json: unknown = JSON.stringify(record);
  if (typeof json !== 'string' || !/^[[{]/.test(json)) throw new TypeError('A log takes objects only');
  return json;
}

/** What rewriting makes of a record; `undefined` removes it, `false` leaves it, as all that the schema refuses. */
export function rewrittenRecord<T>(
  { sequence, record }: { readonly sequence: number; readonly record?: unknown },
  schema: z.ZodType<T>,
  change: (entry: LogEntry<T>) => T | undefined,
): string | undefined | false {
  const parsed = schema.safeParse(record);
  if (!parsed.success) return false;
  const before = formatRecord(parsed.data);
  const next = change({ sequence, record: parsed.data });
  const after = next === undefined ? undefined : formatRecord(next);
  return after !== before && after;
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) for (const part of value) freezeDeep(part);
  else for (const name in value) freezeDeep(value[name]);
  return Object.freeze(value);
}
