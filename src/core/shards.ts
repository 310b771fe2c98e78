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
