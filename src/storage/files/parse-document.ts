import { NewerVersionError } from '../../core/errors.ts';
import type { DocumentKind } from '../../core/store.ts';

/** A document's text, understood or not. `reason` holds no content: it goes into the log. */
export type ParsedDocument<T> =
  | { readonly outcome: 'valid'; readonly value: T }
  | { readonly outcome: 'damaged'; readonly reason: string };

/**
 * Reads a document's text; the value is frozen, down to the last object [S4].
 * @throws {NewerVersionError} where a newer program wrote it, whatever its shape.
 */
export function parseDocument<T extends { readonly version: number }>(
  key: string,
  text: string,
  kind: DocumentKind<T>,
): ParsedDocument<T> {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return { outcome: 'damaged', reason: text.trim() === '' ? 'empty' : 'not JSON' };
  }
  const version = versionOf(data);
  if (version !== undefined && version > kind.version)
    throw new NewerVersionError(key, version, kind.version);
  const parsed = kind.schema.safeParse(data);
  if (parsed.success) return { outcome: 'valid', value: freezeDeep(parsed.data) };
  const codes = new Set(parsed.error.issues.map((issue) => issue.code));
  return { outcome: 'damaged', reason: `refused by the schema (${[...codes].join(', ')})` };
}

/** A document's text as it is stored: indented, because people read and edit it [S5]. */
export function formatDocument(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function versionOf(data: unknown): number | undefined {
  if (typeof data !== 'object' || data === null || !('version' in data)) return undefined;
  return typeof data.version === 'number' ? data.version : undefined;
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) freezeDeep(part);
  return value;
}
