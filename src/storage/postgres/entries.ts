import { randomInt } from 'node:crypto';

import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';

import type { Query } from './database.ts';

/** What an entry was made into, and of which revision. */
interface Known {
  readonly revision: number;
  readonly kind: object;
  readonly value: unknown;
}

interface EntryRow {
  readonly revision: number;
  readonly document: string | null;
  readonly content: Buffer | null;
}

const cacheBytes = 32 * 1024 * 1024;

/**
 * Documents and texts by their keys. Each look asks the database whether what is in the cache still holds: so what another process changed is seen by whatever
 * begins to look after that.
 */
export function createEntries() {
  const cache = new LRUCache<string, Known & { readonly bytes: number }>({
    maxSize: cacheBytes,
    sizeCalculation: ({ bytes }) => bytes + 512,
  });

  function remember(key: string, known: Known, bytes: number): void {
    cache.set(key, { ...known, bytes: 2 * bytes });
  }

  return {
    remember,
    /** What `make` makes of the entry, made once a revision; `undefined` where there is none. What it throws is not kept. Where asked to, keeps others from changing it until the end of the transaction. */
    async read<T>(
      query: Query,
      key: string,
      kind: object,
      make: (text: string) => T,
      { isLocked = false } = {},
    ): Promise<{ readonly value: T } | undefined> {
      const kept = cache.get(key);
      const known = kept?.kind === kind ? kept : undefined;
      const revision = known?.revision ?? -1;
      const [row] = await query(sql<EntryRow>`
        select revision,
          case when revision <> ${revision} then document end as document,
          case when revision <> ${revision} then content end as content
        from discoclaw.entries where key = ${key} and kind <> 'log' ${isLocked ? sql`for update` : sql``}`);
      if (row === undefined) return undefined;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- values of one kind are of one type
      if (row.revision === known?.revision) return { value: known.value as T };
      // As the store in files has it, without a byte order mark.
      const text = row.document ?? new TextDecoder('utf-8').decode(row.content ?? Buffer.alloc(0));
      const value = make(text);
      remember(key, { revision: row.revision, kind, value }, text.length);
      return { value };
    },
  };
}

/** A number that no other change or lease has: as a revision or fence. */
export function freshNumber(): number {
  return randomInt(1, 2 ** 48 - 1);
}
