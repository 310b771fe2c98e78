/** Which of the bot's servers a process has [X3]: Discord deals them out to shards by their ids, and direct messages to the first shard. */
export interface Shards {
  /** Of the whole bot. */
  readonly count: number;
  /** Of this process, ascending; never empty. */
  readonly ids: readonly number[];
}

/** One process, which has everything. */
export const allShards: Shards = { count: 1, ids: [0] };

/** The shard of a server; `undefined` for that of direct messages. */
export function shardOf(guildId: string | undefined, count: number): number {
  return guildId === undefined ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(count));
}

/** Whether a server, or without one the direct messages, belong to these shards, whether the bot is in it or not. */
export function hasGuild({ count, ids }: Shards, guildId: string | undefined): boolean {
  return ids.includes(shardOf(guildId, count));
}

/** Whether it is this process that does what is to be done once for the whole bot. */
export function isFirst({ ids }: Shards): boolean {
  return ids.includes(0);
}

/** Whether other processes have servers that this one knows nothing of. */
export function isPart({ count, ids }: Shards): boolean {
  return ids.length < count;
}
