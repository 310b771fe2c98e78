import { createHash } from 'node:crypto';

/** What a key leads to, as stored, for moving between stores [X4]. */
export type RawEntry =
  /** `text` is JSON as it was written. */
  | { readonly kind: 'document'; readonly key: string; readonly text: string }
  | { readonly kind: 'text'; readonly key: string; readonly bytes: Buffer }
  | {
      readonly kind: 'log';
      readonly key: string;
      readonly records: readonly RawRecord[];
      readonly highest: number;
    };

export interface RawRecord {
  readonly sequence: number;
  readonly json: string;
}

/** One end of a move. Everything rejects with `StoreError`. */
export interface RawStore {
  /** Sorted. */
  keys(): Promise<readonly string[]>;
  /** In the keys' order, without missing ones. */
  read(keys: readonly string[]): Promise<readonly RawEntry[]>;
  /** Writes what was missing; each entry whole or not at all. */
  write(entries: readonly RawEntry[]): Promise<void>;
  /** Unreadable lines of logs so far; they stay behind. */
  readonly damagedLines: () => number;
  /** Resolves when all that was written survives a power loss. */
  whenWritten(): Promise<void>;
  close(): Promise<void>;
}

/** Equal for entries that differ only in their JSON's layout. */
export function canonicalHash(entry: RawEntry): string {
  const hash = createHash('sha256').update(`${entry.kind} ${entry.key}\0`);
  switch (entry.kind) {
    case 'document':
      return hash.update(canonicalJson(entry.text)).digest('hex');
    case 'text':
      return hash.update(entry.bytes).digest('hex');
    case 'log':
      for (const { sequence, json } of entry.records) hash.update(`${sequence} ${canonicalJson(json)}\n`);
      return hash.update(String(entry.highest)).digest('hex');
  }
}

function canonicalJson(text: string): string {
  return JSON.stringify(JSON.parse(text));
}

/** By who names it: what people name as they like is text. */
export function kindOfKey(key: string): RawEntry['kind'] {
  if (key.startsWith('workspace/') || /^users\/[^/]+\/notebook\//u.test(key)) return 'text';
  if (key.endsWith('.jsonl')) return 'log';
  return key.endsWith('.json') ? 'document' : 'text';
}

/** No log: a document where key and bytes (a JSON object in sound UTF-8) are one's; else a text. */
export function entryOfBytes(key: string, bytes: Buffer): RawEntry {
  const text = bytes.toString('utf8');
  const isDocument = kindOfKey(key) === 'document' && Buffer.from(text).equals(bytes) && isObject(text);
  return isDocument ? { kind: 'document', key, text } : { kind: 'text', key, bytes };
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isObject(text: string): boolean {
  return text.trimStart().startsWith('{') && isJson(text);
}
