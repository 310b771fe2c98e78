import { z } from 'zod';
import type { DocumentKind, LogEntry, Store } from '../../src/core/store.ts';

interface Counter {
  readonly version: 1;
  readonly count: number;
}

export const counterKind: DocumentKind<Counter> = {
  version: 1,
  schema: z.object({ version: z.literal(1), count: z.number() }),
};

export const noteKind: DocumentKind<{ readonly version: 1; readonly note: string }> = {
  version: 1,
  schema: z.object({ version: z.literal(1), note: z.string() }),
};

export const noteSchema = z.object({ note: z.string() });

export const alice = '100000000000000001';
export const ben = '100000000000000002';
export const document = `users/${alice}/durable.json`;
export const log = `sessions/200000000000000001/${alice}/messages.jsonl`;
export const text = `users/${alice}/notebook/facts/user.md`;

export function increment(current: Counter | undefined): Counter {
  return { version: 1, count: (current?.count ?? 0) + 1 };
}

export async function entriesOf(
  store: Store,
  key: string,
  options?: { readonly after?: number },
): Promise<LogEntry<{ note: string }>[]> {
  const entries = [];
  for await (const entry of store.scan(key, noteSchema, options)) entries.push(entry);
  return entries;
}

export async function notesOf(store: Store, key: string): Promise<string[]> {
  return (await entriesOf(store, key)).map(({ record }) => record.note);
}
