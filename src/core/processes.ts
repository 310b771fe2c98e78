import { z } from 'zod';

import { idSchema } from './snowflake.ts';
import { lateNoticeSchema } from './tool.ts';

/** What processes share [X2][X3]. A channel belongs to one process at a time, a person to all. */
export interface Processes {
  readonly locks: Locks;
  readonly notices: Notices;
}

/** Keys that one process has at a time; they are free as soon as it is gone. */
export interface Locks {
  /**
   * Runs a short job while no other process runs one of the key, in no particular order. Never over a model
   * call, and never nested within the same process. Rejects with `StoreError` where the key cannot be had; once
   * it is lost, the job's writes reject with `StoreError`.
   */
  hold<T>(key: string, job: () => Promise<T>): Promise<T>;
  /**
   * Takes a key until released; `undefined` where it is taken. It may be lost with a connection, and another process
   * have it, so its work must be safe to repeat. Rejects with `StoreError`.
   */
  claim(key: string): Promise<{ release(): Promise<void> } | undefined>;
}

/** What comes from another process, perhaps of another version, is checked by this [X6]. */
export const noticeSchema = z.discriminatedUnion('kind', [
  /** All data of a person is being erased [K11], or was; `at` is ISO 8601. */
  z.object({ kind: z.literal('erased'), userId: idSchema, isDone: z.boolean() }),
  /** Something of a person's was written; told where people have pages that show it [Y3]. */
  z.object({ kind: z.literal('written'), userId: idSchema }),
  /** Something a person said was stored; the process that answered tells them [K6]. */
  z.object({ kind: z.literal('stored'), stored: lateNoticeSchema }),
]);
export type Notice = z.infer<typeof noticeSchema>;

/** A notice may be lost and never returns to its sender; permissions are looked up when used. */
export interface Notices {
  tell(notice: Notice): void;
  listen(listener: (notice: Notice) => void): void;
}

export function createOneProcess(): Processes {
  const claims = new Set<string>();
  return {
    locks: {
      hold: (_key, job) => job(),
      claim(key) {
        if (claims.has(key)) return Promise.resolve(undefined);
        claims.add(key);
        return Promise.resolve({ release: () => Promise.resolve(void claims.delete(key)) });
      },
    },
    notices: { tell: () => {}, listen: () => {} },
  };
}

/** Which servers a process has [X3]: Discord deals them out by id, and direct messages to the first shard. */
export interface Shards {
  /** Of the whole bot. */
  readonly count: number;
  /** Of this process, ascending; never empty. */
  readonly ids: readonly number[];
}

export const allShards: Shards = { count: 1, ids: [0] };

/** Of direct messages if `undefined`. */
export function shardOf(guildId: string | undefined, count: number): number {
  return guildId === undefined ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(count));
}

/** Whether a server, or without one the direct messages, belong to these shards. */
export function hasGuild({ count, ids }: Shards, guildId: string | undefined): boolean {
  return ids.includes(shardOf(guildId, count));
}

/** Whether this process does what is done once for the whole bot. */
export function isFirst({ ids }: Shards): boolean {
  return ids.includes(0);
}

/** Whether other processes have servers too. */
export function isPart({ count, ids }: Shards): boolean {
  return ids.length < count;
}
