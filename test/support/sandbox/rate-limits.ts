import type { ApiRequest } from '../../../src/sandbox/rest/rest-context.ts';

const onMessages = /^\/channels\/(\d+)\/messages$/;
const onMessage = /^\/channels\/(\d+)\/messages\/\d+$/;
const onReaction = /^\/channels\/(\d+)\/messages\/\d+\/reactions(?:\/|$)/;
const onTyping = /^\/channels\/(\d+)\/typing$/;

/** Discord's limits as they are known from its answers; it publishes none. The first group of a path is the channel, each counted for itself. */
const limits: readonly {
  readonly bucket: string;
  readonly methods: readonly string[];
  readonly path: RegExp;
  readonly requests: number;
  readonly perMilliseconds: number;
}[] = [
  { bucket: 'message-create', methods: ['POST'], path: onMessages, requests: 5, perMilliseconds: 5_000 },
  { bucket: 'message-edit', methods: ['PATCH'], path: onMessage, requests: 5, perMilliseconds: 5_000 },
  { bucket: 'message-delete', methods: ['DELETE'], path: onMessage, requests: 5, perMilliseconds: 1_000 },
  { bucket: 'reaction', methods: ['PUT', 'DELETE'], path: onReaction, requests: 1, perMilliseconds: 250 },
  { bucket: 'typing', methods: ['POST'], path: onTyping, requests: 5, perMilliseconds: 5_000 },
];

/** All requests of a bot together, except answers to interactions. */
const globalLimit = { requests: 50, perMilliseconds: 1_000 };

/** A 429. The header counts whole seconds, the body is exact. */
export function rateLimited(seconds: number, global: boolean, headers: Readonly<Record<string, string>>) {
  const body = { message: 'You are being rate limited.', retry_after: seconds, global, code: 0 };
  return {
    headers: { 'retry-after': String(Math.ceil(seconds)), ...headers },
    answer: { status: 429, body },
  };
}

/** Counts requests as Discord does: a window begins with a request, and its requests are gone when it ends. */
export function createRateLimits(now: () => Date, isOn: boolean) {
  const windows = new Map<string, { readonly endsAt: number; used: number }>();

  function count(key: string, perMilliseconds: number) {
    const at = now().getTime();
    const present = windows.get(key);
    const window =
      present !== undefined && present.endsAt > at ? present : { endsAt: at + perMilliseconds, used: 0 };
    window.used += 1;
    windows.set(key, window);
    return { ...window, secondsLeft: Math.max(0, window.endsAt - at) / 1000 };
  }

  return {
    isOn,
    /** What comes of a request, with the headers of its limit. */
    take({
      method,
      path,
    }: ApiRequest):
      | ReturnType<typeof rateLimited>
      | { headers: Record<string, string>; answer?: undefined }
      | undefined {
      if (!this.isOn || /^\/(?:interactions|webhooks|attachments)\//u.test(path)) return undefined;
      const all = count('global', globalLimit.perMilliseconds);
      if (all.used > globalLimit.requests)
        return rateLimited(all.secondsLeft, true, {
          'x-ratelimit-global': 'true',
          'x-ratelimit-scope': 'user',
        });
      const limit = limits.find(
        ({ methods, path: pattern }) => methods.includes(method) && pattern.test(path),
      );
      if (limit === undefined) return undefined;
      const channelId = limit.path.exec(path)?.[1] ?? '';
      const { used, endsAt, secondsLeft } = count(`${limit.bucket} ${channelId}`, limit.perMilliseconds);
      const headers = {
        'x-ratelimit-limit': String(limit.requests),
        'x-ratelimit-remaining': String(Math.max(0, limit.requests - used)),
        'x-ratelimit-reset': (endsAt / 1000).toFixed(3),
        'x-ratelimit-reset-after': secondsLeft.toFixed(3),
        'x-ratelimit-bucket': limit.bucket,
      };
      return used > limit.requests
        ? rateLimited(secondsLeft, false, { ...headers, 'x-ratelimit-scope': 'user' })
        : { headers };
    },
  };
}
