export interface ShardSettings {
  /** Of the whole bot. */
  readonly count: number | 'auto';
  /** Those of this machine; absent: all. */
  readonly ids: readonly number[] | undefined;
  /** Of this machine. */
  readonly processes: number;
}

/** What of these does not go together, each with what to do. */
export function shardProblems(
  { count, ids, processes }: ShardSettings,
  hasDatabase: boolean,
): readonly string[] {
  const problems: string[] = [];
  if (count === 'auto' && ids !== undefined)
    problems.push(
      'DISCOCLAW_SHARD_IDS: machines must agree on how many shards there are: give their number in DISCOCLAW_SHARDS instead of auto',
    );
  if (count !== 'auto' && ids?.some((id) => id >= count) === true)
    problems.push(
      `DISCOCLAW_SHARD_IDS: expected numbers of shards from 0 to ${count - 1}, found ${ids.at(-1)}; DISCOCLAW_SHARDS is the number of all, ${count}`,
    );
  const here = ids?.length ?? count;
  if (here !== 'auto' && processes > here)
    problems.push(
      `DISCOCLAW_PROCESSES: expected at most one process for each of the shards here, ${here}, found ${processes}; DISCOCLAW_SHARDS says how many there are`,
    );
  if (hasDatabase) return problems;
  if (processes > 1)
    problems.push(
      'DISCOCLAW_PROCESSES: files belong to one process: set DISCOCLAW_STORE to a database for several, or run all shards in one with DISCOCLAW_PROCESSES=1',
    );
  if (count !== 'auto' && ids !== undefined && ids.length < count)
    problems.push(
      'DISCOCLAW_SHARD_IDS: several machines need one memory: set DISCOCLAW_STORE to a database that they share, or run all shards here without DISCOCLAW_SHARD_IDS',
    );
  return problems;
}
