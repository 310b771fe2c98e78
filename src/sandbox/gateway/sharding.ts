import { z } from 'zod';

import type { Clock } from '../world/snowflakes.ts';
import { guildIdOf, type World, type WorldEvent } from '../world/world.ts';

/** What Discord asks of bots in many guilds; each is as for a small bot if not said. */
export interface ShardingOptions {
  /** Shards that `GET /gateway/bot` recommends; 1. */
  readonly shards?: number;
  /** A shard with more guilds is refused by close code 4011; 2,500. */
  readonly guildsPerShard?: number;
  /** Shards that may identify at the same time: one of each `shard_id % max_concurrency`; 1. */
  readonly maxConcurrency?: number;
  /** Milliseconds between two that identify under the same key; 5,000 at Discord, here 0: no limit. */
  readonly identifyEveryMs?: number;
  /** Sessions that may be started in a day; 1,000. */
  readonly sessionStarts?: number;
}

/** A client's part of the bot: shard `id` of `count`. */
export interface Shard {
  readonly id: number;
  readonly count: number;
}

/** As a client identifies; one that names no shard has all there is. */
export const shardSchema = z
  .tuple([z.int().nonnegative(), z.int()])
  .refine(([id, count]) => id < count)
  .nullish()
  .transform((pair): Shard => ({ id: pair?.[0] ?? 0, count: pair?.[1] ?? 1 }));

/** Whether a shard gets a guild's events; without a guild, those of DMs, which only the first shard gets. */
export function hears({ id, count }: Shard, guildId: string | undefined): boolean {
  return id === (guildId === undefined ? 0 : Number((BigInt(guildId) >> 22n) % BigInt(count)));
}

/** The guild that an event belongs to; `undefined` for those of DMs. */
export function guildIdOfEvent(world: World, event: WorldEvent): string | undefined {
  if ('guildId' in event) return event.guildId;
  if ('guild' in event) return event.guild.id;
  if ('thread' in event) return event.thread.guildId;
  if ('channel' in event) return guildIdOf(event.channel);
  if ('presence' in event) return undefined;
  if ('message' in event) return guildIdAt(world, event.message);
  return guildIdAt(world, 'interaction' in event ? event.interaction : event);
}

function guildIdAt(world: World, { channelId }: { readonly channelId: string }): string | undefined {
  const channel = world.channels.get(channelId);
  return channel && guildIdOf(channel);
}

const dayMs = 24 * 60 * 60_000;

/** Counts the sessions that clients start, and tells those that come too soon after another. */
export class SessionStarts {
  readonly #rules: Required<Pick<ShardingOptions, 'maxConcurrency' | 'identifyEveryMs' | 'sessionStarts'>>;
  readonly #now: Clock;
  /** By key, when the last one identified. */
  readonly #last = new Map<number, number>();
  #started = 0;
  #countsSince = -Infinity;

  constructor(now: Clock, options: ShardingOptions) {
    const { maxConcurrency = 1, identifyEveryMs = 0, sessionStarts = 1000 } = options;
    this.#rules = { maxConcurrency, identifyEveryMs, sessionStarts };
    this.#now = now;
  }

  /** Counts one. `too-soon`: the client is to try again later; `used-up`: there is none left on this day. */
  take({ id }: Shard): 'started' | 'too-soon' | 'used-up' {
    const now = this.#now().getTime();
    if (now - this.#countsSince >= dayMs) this.#started = 0;
    if (this.#started >= this.#rules.sessionStarts) return 'used-up';
    const key = id % this.#rules.maxConcurrency;
    if (now - (this.#last.get(key) ?? -Infinity) < this.#rules.identifyEveryMs) return 'too-soon';
    this.#last.set(key, now);
    if (this.#started === 0) this.#countsSince = now;
    this.#started += 1;
    return 'started';
  }

  /** As `GET /gateway/bot` tells. */
  get limit() {
    const now = this.#now().getTime();
    const isCounting = now - this.#countsSince < dayMs;
    return {
      total: this.#rules.sessionStarts,
      remaining: this.#rules.sessionStarts - (isCounting ? this.#started : 0),
      reset_after: isCounting ? this.#countsSince + dayMs - now : 0,
      max_concurrency: this.#rules.maxConcurrency,
    };
  }
}
