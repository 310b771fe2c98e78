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

/** A log's blocks, with what is kept of each as text, and what would be made of it now. */
export async function blocksOf(store: Store, key: string) {
  const blocks = [];
  for await (const { end, kept, entries, record } of store.blocks(key, noteSchema)) {
    const all = [];
    for await (const entry of entries()) all.push(entry);
    const again = all.map(({ sequence }) => record(sequence)?.note);
    blocks.push({
      end,
      kept: kept && Buffer.from(kept).toString(),
      made: JSON.stringify(again),
      entries: all,
    });
  }
  return blocks;
}

/** Keeps the notes of each block. */
export async function keepBlocks(store: Store, key: string): Promise<void> {
  for await (const { entries, keep } of store.blocks(key, noteSchema)) {
    const notes = [];
    for await (const { record } of entries()) notes.push(record.note);
    await keep(Buffer.from(JSON.stringify(notes)));
  }
}

/** What is kept of each block, as far as it is. */
export async function keptOf(store: Store, key: string): Promise<readonly (string | undefined)[]> {
  return (await blocksOf(store, key)).map(({ kept }) => kept);
}
