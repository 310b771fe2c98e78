import { GatewayCloseCodes, type RateLimitData, RateLimitError } from 'discord.js';

import type { Logger } from '../core/logger.ts';

const explanations = {
  token: ['Discord refused the token', 'check DISCORD_TOKEN'],
  intents: [
    'Discord refused the intents, also without Message Content',
    'check the bot in the developer portal',
  ],
  unreachable: ['Discord cannot be reached', 'check the network and DISCORD_API_URL'],
  timeout: ['Discord did not finish the login in time', 'check the network'],
  shards: ['Discord refused the shards', 'set DISCOCLAW_SHARDS to auto, or to a higher number'],
  limited: [
    'Discord, or Cloudflare in front of it, asks for a pause',
    'look for what asks so often from this address or with this token, such as a bot that is started again and again',
  ],
  blocked: [
    'Cloudflare, in front of Discord, refuses this address',
    'wait, or use another address: that of a hosting provider may be blocked for what others do',
  ],
  sessions: [
    'Discord lets the bot start no more sessions today',
    'look for what starts the bot so often, or for others that use its token',
  ],
  outdated: [
    'Discord takes no more what this version of the bot asks of its gateway',
    'update the bot, or check the server at DISCORD_API_URL',
  ],
  rejected: ['Discord refused the connection', 'check the bot in the developer portal'],
} as const;

type GatewayFailure = keyof typeof explanations;

/** The message is one line for the bot's operator [O2]. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly failure: GatewayFailure;
  readonly what: string;
  readonly remedy: string;
  readonly waitMs: number | undefined;
  constructor(failure: GatewayFailure, cause?: unknown, waitMs?: number) {
    const [what, remedy] = explanations[failure];
    const howLong = waitMs === undefined ? '' : ` (for ${durationInWords(waitMs)})`;
    super(`${what}${howLong}: ${remedy}`, { cause });
    this.failure = failure;
    this.what = what + howLong;
    this.remedy = remedy;
    this.waitMs = waitMs;
  }

  get isPassing(): boolean {
    return /^(?:unreachable|timeout|limited|blocked|sessions)$/u.test(this.failure);
  }
}

export function durationInWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

const failureByCloseCode: Readonly<Record<number, GatewayFailure>> = {
  [GatewayCloseCodes.AuthenticationFailed]: 'token',
  [GatewayCloseCodes.DisallowedIntents]: 'intents',
  [GatewayCloseCodes.InvalidShard]: 'shards',
  [GatewayCloseCodes.ShardingRequired]: 'shards',
  [GatewayCloseCodes.InvalidAPIVersion]: 'outdated',
  [GatewayCloseCodes.InvalidIntents]: 'outdated',
};

export function gatewayErrorOfClose(code: number): GatewayError {
  const cause = new Error(`The gateway closed with code ${code}`);
  return new GatewayError(failureByCloseCode[code] ?? 'rejected', cause);
}

/** The library only puts some reasons into words. */
export function gatewayErrorOf(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  const text = error instanceof Error ? error.message : '';
  const { status, rawError } = Object(error);
  if (error instanceof RateLimitError) return new GatewayError('limited', error, waitOf(error));
  const resetAt = /^Not enough sessions remaining .* resets at (\S+)$/u.exec(text)?.[1];
  if (resetAt !== undefined)
    return new GatewayError('sessions', error, Math.max(0, Date.parse(resetAt) - Date.now()) + 1000);
  // Discord itself would say why, as JSON.
  if (status === 403 && Object(rawError).message === undefined) return new GatewayError('blocked', error);
  if (status === 401 || /^Authentication failed$|invalid token/iu.test(text))
    return new GatewayError('token', error);
  if (text === 'Used disallowed intents') return new GatewayError('intents', error);
  if (/^(?:Invalid shard|Sharding)/u.test(text)) return new GatewayError('shards', error);
  const isVerdict = /^Used (?:an? )?invalid/u.test(text);
  return new GatewayError(isVerdict ? 'outdated' : 'unreachable', error);
}

export function waitOf({ timeToReset, retryAfter, sublimitTimeout }: RateLimitData): number {
  return Math.max(timeToReset, retryAfter, sublimitTimeout);
}

/** Failures are logged, since the gateway has nobody to tell. */
export type RunInBackground = (what: string, work: () => Promise<unknown>) => void;

export function createBackground(logger: Logger) {
  const running = new Set<Promise<void>>();

  async function logged(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      logger.error('an event could not be handled', { what, error });
    }
  }

  const runInBackground: RunInBackground = (what, work) => {
    const done = logged(what, work).finally(() => running.delete(done));
    running.add(done);
  };

  return {
    runInBackground,
    idle: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
