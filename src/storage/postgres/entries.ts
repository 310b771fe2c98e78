import { randomInt } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { createBatches } from './batches.ts';
import type { Database } from './database.ts';

/** A document or text as it stands in the database. */
export interface Entry {
  readonly revision: number;
  /** As text, be it a document's JSON or not. */
  readonly text: string;
}

/** What an entry was made into, and of which revision. */
export interface Known {
  readonly revision: number;
  readonly kind: object;
  readonly value: unknown;
}

interface EntryRow {
  readonly place: number;
  readonly revision: number;
  readonly document: string | null;
  readonly content: Buffer | null;
  readonly is_known: boolean;
}

const cacheBytes = 32 * 1024 * 1024;
const mostKeysAtOnce = 500;
const batchesAtOnce = 4;

export type Entries = ReturnType<typeof createEntries>;

/**
 * Documents and texts by their keys. Each look asks the database whether what is in the cache still holds, all that look at the same time in one round trip: so
 * what another process changed is seen by whatever begins to look after that.
 */
export function createEntries(database: Database) {
  const cache = new LRUCache<string, Known & { readonly bytes: number }>({
    maxSize: cacheBytes,
    sizeCalculation: ({ bytes }) => bytes + 512,
  });

  const look = createBatches<{ readonly key: string; readonly known: number }, Entry | 'absent' | 'as known'>(
    {
      atOnce: batchesAtOnce,
      most: mostKeysAtOnce,
      async run(asked) {
        const rows = await database.query<EntryRow>({
          name: 'look',
          text: `
          select asked.place::int as place, entry.revision, entry.revision = asked.known as is_known,
            case when entry.revision <> asked.known then entry.document end as document,
            case when entry.revision <> asked.known then entry.content end as content
          from unnest($1::text[], $2::bigint[]) with ordinality as asked (key, known, place)
          join discoclaw.entries entry on entry.key = asked.key and entry.kind <> 'log'`,
          values: [asked.map(({ key }) => key), asked.map(({ known }) => known)],
        });
        const found: (Entry | 'absent' | 'as known')[] = asked.map(() => 'absent');
        for (const row of rows) found[row.place - 1] = row.is_known ? 'as known' : entryOf(row);
        return found;
      },
    },
  );

  return {
    /** What `make` makes of the entry, made once a revision; `undefined` where there is none. What it throws is not kept. */
    async read<T>(key: string, kind: object, make: (text: string) => T) {
      const known = cache.get(key);
      const isOfKind = known?.kind === kind;
      const found = await look({ key, known: isOfKind ? known.revision : -1 });
      if (found === 'absent') {
        cache.delete(key);
        return undefined;
      }
      if (found === 'as known') {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- values of one kind are of one type
        return { revision: known?.revision ?? -1, value: known?.value as T };
      }
      const value = make(found.text);
      cache.set(key, { revision: found.revision, kind, value, bytes: 2 * found.text.length });
      return { revision: found.revision, value };
    },

    /** What the cache has, which may no longer hold. */
    known(key: string, kind: object): Known | undefined {
      const known = cache.get(key);
      return known?.kind === kind ? known : undefined;
    },

    remember(key: string, known: Known, bytes: number): void {
      cache.set(key, { ...known, bytes: 2 * bytes });
    },

    forget: (key: string): void => void cache.delete(key),
  };
}

export function entryOf({
  revision,
  document,
  content,
}: {
  readonly revision: number;
  readonly document: string | null;
  readonly content: Buffer | null;
}): Entry {
  // As the store in files has it, without a byte order mark.
  return { revision, text: document ?? new TextDecoder('utf-8').decode(content ?? Buffer.alloc(0)) };
}

/** A number that no other change or lease has: as a revision or fence, and to find out whether a change was made whose answer was lost. */
export function freshNumber(): number {
  return randomInt(1, 2 ** 48 - 1);
}
