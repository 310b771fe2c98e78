import { createHmac, randomBytes } from 'node:crypto';

import { z } from 'zod';

import type { DocumentKind, Store } from '../../core/store.ts';

export const erasuresKey = 'erasures.json';

/** Erasings under one key; only who has an id to try can tell whose a hash is. */
const listSchema = z.object({
  /** Of the HMAC-SHA-256, in hex. */
  key: z.string().regex(/^[0-9a-f]{64}$/u),
  /** By a person's hash, when they last had everything erased; ISO 8601, UTC. */
  erased: z.record(z.string(), z.string()),
});
const documentSchema = z.object({
  version: z.literal(1),
  /** The first is this installation's own; a restored backup may bring others [O4]. */
  lists: z.array(listSchema).readonly(),
});
type ErasuresDocument = Readonly<z.infer<typeof documentSchema>>;
export type ErasureList = Readonly<z.infer<typeof listSchema>>;

export const erasuresKind: DocumentKind<ErasuresDocument> = { version: 1, schema: documentSchema };

/** When a person had everything erased, by one list. */
export function erasedAtIn(list: ErasureList, userId: string): string | undefined {
  return list.erased[hashOf(list, userId)];
}

function hashOf({ key }: ErasureList, userId: string): string {
  return createHmac('sha256', Buffer.from(key, 'hex')).update(userId).digest('hex');
}

/**
 * Who had everything erased, and when [K11]: by a keyed hash of their id, so that no file names them and yet
 * their earlier messages are not used.
 */
export function createErasures(store: Pick<Store, 'read' | 'update'>) {
  return {
    /** The newest moment, ISO 8601; `undefined` for none. Rejects with `StoreError`. */
    async at(this: void, userId: string): Promise<string | undefined> {
      const { lists = [] } = (await store.read(erasuresKey, erasuresKind)) ?? {};
      return lists.map((list) => erasedAtIn(list, userId)).reduce(later, undefined);
    },
    /** Rejects with `StoreError`. */
    async note(this: void, userId: string, at: string): Promise<void> {
      const fresh: ErasureList = { key: randomBytes(32).toString('hex'), erased: {} };
      await store.update(erasuresKey, erasuresKind, (present) => {
        const [own = fresh, ...others] = present?.lists ?? [];
        const moment = later(erasedAtIn(own, userId), at) ?? at;
        const erased = { ...own.erased, [hashOf(own, userId)]: moment };
        return { version: 1 as const, lists: [{ ...own, erased }, ...others] };
      });
    },
  };
}

/** With another data folder's list [O4]. */
export function withList(lists: readonly ErasureList[], added: ErasureList): readonly ErasureList[] {
  const known = lists.find(({ key }) => key === added.key);
  if (known === undefined) return [...lists, added];
  const hashes = new Set([...Object.keys(known.erased), ...Object.keys(added.erased)]);
  const erased = Object.fromEntries(
    [...hashes].map((hash) => [hash, later(known.erased[hash], added.erased[hash]) ?? '']),
  );
  return lists.map((list) => (list === known ? { key: known.key, erased } : list));
}

/** The later of two moments. */
export function later(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Date.parse(one) >= Date.parse(other) ? one : other;
}
