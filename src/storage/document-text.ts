import { isDeepStrictEqual } from 'node:util';

import { NewerVersionError, StoreError } from '../core/errors.ts';
import { changedPart, type ChangedPart, type DocumentKind, type Versioned } from '../core/store.ts';
import { parseJson } from '../core/text.ts';

/** A document's text, understood or not. `reason` holds no content: it goes into the log. */
export type ParsedDocument<T> =
  | { readonly outcome: 'valid'; readonly value: T; readonly isAsWritten: boolean }
  | { readonly outcome: 'damaged'; readonly reason: string };

export function sound<T>(value: T): ParsedDocument<T> {
  return { outcome: 'valid', value, isAsWritten: true };
}

/**
 * A document as it will be read, frozen. Of a list only those elements are looked at that are not the same objects as `before`; where these are read
 * again just as they are, the list that was given is frozen itself.
 * @throws {StoreError} where it could not be read again.
 */
export function checkedDocument<T extends Versioned>(
  key: string,
  kind: DocumentKind<T>,
  next: T,
  before?: T,
): { readonly value: T; readonly part: ChangedPart } {
  const { list = '' } = kind;
  const [old, all] = [listIn(before, list), listIn(next, list)];
  const part = changedPart(old, all);
  const known = new Set(old.slice(part.start, old.length - part.kept));
  const changed = all.slice(part.start, all.length - part.kept).filter((element) => !known.has(element));
  if (changed.length < all.length) {
    const value = readAgain(key, kind, { ...next, [list]: changed });
    if (isDeepStrictEqual(listIn(value, list), changed)) {
      freezeDeep(changed);
      return { value: Object.freeze({ ...value, [list]: Object.freeze(all) }), part };
    }
  }
  return { value: readAgain(key, kind, next), part: { start: 0, kept: 0 } };
}

function readAgain<T extends Versioned>(key: string, kind: DocumentKind<T>, document: object): T {
  const parsed = parseDocument(key, JSON.stringify(document), kind);
  if (parsed.outcome === 'damaged') throw new StoreError(`${key} was not stored: ${parsed.reason}`, key);
  return parsed.value;
}

function listIn(document: object | undefined, name: string): readonly unknown[] {
  const list: unknown = new Map(Object.entries(document ?? {})).get(name);
  return Array.isArray(list) ? list : [];
}

/**
 * Reads a document's text; the value is frozen, down to the last object [S4].
 * @throws {NewerVersionError} where a newer program wrote it, whatever its shape.
 */
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
  const version = versionOf(data);
  if (version !== undefined && version > kind.version)
    throw new NewerVersionError(key, version, kind.version);
  if (kind.isWhole?.(data) === true) return sound(freezeDeep(data));
  const parsed = kind.schema.safeParse(data);
  if (!parsed.success) {
    const codes = new Set(parsed.error.issues.map((issue) => issue.code));
    return { outcome: 'damaged', reason: `refused by the schema (${[...codes].join(', ')})` };
  }
  return {
    outcome: 'valid',
    value: freezeDeep(parsed.data),
    isAsWritten: isDeepStrictEqual(parsed.data, data),
  };
}

export function parseObject(text: string): object | undefined {
  try {
    const data = parseJson(text);
    return typeof data === 'object' && data !== null && !Array.isArray(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** A document's text as it is stored: indented, because people read and edit it [S5]. */
export function formatDocument(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** @throws {TypeError} for what has no JSON or is no object in JSON. */
export function formatRecord(record: unknown): string {
  const json: unknown = JSON.stringify(record);
  if (typeof json !== 'string' || !/^[[{]/.test(json)) throw new TypeError('A log takes objects only');
  return json;
}

function versionOf(data: unknown): number | undefined {
  if (typeof data !== 'object' || data === null || !('version' in data)) return undefined;
  return typeof data.version === 'number' ? data.version : undefined;
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) for (const part of value) freezeDeep(part);
  else for (const name in value) freezeDeep(value[name]);
  return Object.freeze(value);
}
