import type { FastifyReply } from 'fastify';

import type { Clock } from '../world/snowflakes.ts';

interface Limit {
  /** What the client learns the limit by. */
  readonly bucket: string;
  readonly methods: readonly string[];
  /** Of the path; its first group is the channel, each of which is counted for itself. */
  readonly path: RegExp;
  readonly requests: number;
  readonly perMilliseconds: number;
}

const onMessages = /^\/channels\/(\d+)\/messages$/;
const onMessage = /^\/channels\/(\d+)\/messages\/\d+$/;
const onReaction = /^\/channels\/(\d+)\/messages\/\d+\/reactions(?:\/|$)/;
const onTyping = /^\/channels\/(\d+)\/typing$/;

/** Discord's limits as they are known from its answers; it publishes none. */
const limits: readonly Limit[] = [
  { bucket: 'message-create', methods: ['POST'], path: onMessages, requests: 5, perMilliseconds: 5_000 },
  { bucket: 'message-edit', methods: ['PATCH'], path: onMessage, requests: 5, perMilliseconds: 5_000 },
  { bucket: 'message-delete', methods: ['DELETE'], path: onMessage, requests: 5, perMilliseconds: 1_000 },
  { bucket: 'reaction', methods: ['PUT', 'DELETE'], path: onReaction, requests: 1, perMilliseconds: 250 },
  { bucket: 'typing', methods: ['POST'], path: onTyping, requests: 5, perMilliseconds: 5_000 },
];

/** All requests of a bot together, except answers to interactions. */
const globalLimit = { requests: 50, perMilliseconds: 1_000 };

/** How a request stands to the limits. */
interface RateLimitVerdict {
  readonly isExceeded: boolean;
  readonly isGlobal: boolean;
  /** Until the count resets, in seconds. */
  readonly resetAfterSeconds: number;
  /** For every answer; none where the route has no limit of its own. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

interface Window {
  readonly endsAt: number;
  used: number;
}

/** Counts requests as Discord does: a window begins with a request, and its requests are gone when it ends. */
export class RateLimits {
  /** Whether anything is limited at all. */
  isOn: boolean;
  readonly #now: Clock;
  readonly #windows = new Map<string, Window>();

  constructor(now: Clock, isOn: boolean) {
    this.#now = now;
    this.isOn = isOn;
  }

  /** Counts a request; `undefined` while nothing is limited. */
  take(method: string, path: string): RateLimitVerdict | undefined {
    if (!this.isOn) return undefined;
    const all = this.#count('global', globalLimit);
    if (all.used > globalLimit.requests) {
      return {
        isExceeded: true,
        isGlobal: true,
        resetAfterSeconds: this.#secondsLeft(all),
        headers: { 'x-ratelimit-global': 'true', 'x-ratelimit-scope': 'user' },
      };
    }
    const limit = limits.find(({ methods, path: pattern }) => methods.includes(method) && pattern.test(path));
    if (limit === undefined) return noLimit;
    const channelId = limit.path.exec(path)?.[1] ?? '';
    const window = this.#count(`${limit.bucket} ${channelId}`, limit);
    const isExceeded = window.used > limit.requests;
    const resetAfterSeconds = this.#secondsLeft(window);
    return {
      isExceeded,
      isGlobal: false,
      resetAfterSeconds,
      headers: {
        'x-ratelimit-limit': String(limit.requests),
        'x-ratelimit-remaining': String(Math.max(0, limit.requests - window.used)),
        'x-ratelimit-reset': (window.endsAt / 1000).toFixed(3),
        'x-ratelimit-reset-after': resetAfterSeconds.toFixed(3),
        'x-ratelimit-bucket': limit.bucket,
        'x-ratelimit-scope': isExceeded ? 'user' : undefined,
      },
    };
  }

  #count(key: string, { perMilliseconds }: Pick<Limit, 'perMilliseconds'>): Window {
    const now = this.#now().getTime();
    const present = this.#windows.get(key);
    const window =
      present !== undefined && present.endsAt > now ? present : { endsAt: now + perMilliseconds, used: 0 };
    window.used += 1;
    this.#windows.set(key, window);
    return window;
  }

  #secondsLeft({ endsAt }: Window): number {
    return Math.max(0, endsAt - this.#now().getTime()) / 1000;
  }
}

const noLimit: RateLimitVerdict = { isExceeded: false, isGlobal: false, resetAfterSeconds: 0, headers: {} };

/** Answers by 429. The header counts whole seconds, the body is exact. */
export async function answerRateLimited(
  reply: FastifyReply,
  limited: Pick<RateLimitVerdict, 'resetAfterSeconds' | 'isGlobal' | 'headers'>,
): Promise<void> {
  const { resetAfterSeconds: seconds, isGlobal, headers } = limited;
  await reply
    .code(429)
    .headers({ 'retry-after': String(Math.ceil(seconds)), ...headers })
    .send({ message: 'You are being rate limited.', retry_after: seconds, global: isGlobal, code: 0 });
}
