import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { Shards } from '../core/shards.ts';
import { withDiscord } from '../discord/checkup.ts';

/** @throws {GatewayError} */
export function askAboutShards({ discord }: Config, token: string, logger: Logger) {
  return withDiscord({ token, apiUrl: discord.apiUrl, logger }, (checkup) => checkup.shards());
}

/** This machine's shards [X3]; with `auto`, as many as Discord recommends, and at least one per process. */
export function shardsHere({ shards }: Config, recommended: number): Shards {
  const count = shards.count === 'auto' ? Math.max(recommended, shards.processes) : shards.count;
  return { count, ids: shards.ids ?? Array.from({ length: count }, (_, id) => id) };
}

/** Divides shards evenly among at most so many processes, neighbours together. */
export function divideShards({ count, ids }: Shards, processes: number): readonly Shards[] {
  const parts = Math.min(processes, ids.length);
  const beginOf = (index: number): number => Math.floor((index * ids.length) / parts);
  return Array.from({ length: parts }, (_, index) => ({
    count,
    ids: ids.slice(beginOf(index), beginOf(index + 1)),
  }));
}

/** Such as `0-3,6`. */
export function shownShards(ids: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const id of ids) {
    const range = ranges.at(-1);
    if (range?.last === id - 1) range.last = id;
    else ranges.push({ first: id, last: id });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}
