import { setTimeout as sleep } from 'node:timers/promises';

import type { Gateway } from '../../../src/sandbox/gateway/gateway.ts';
import type { ApiRequest, Interception } from '../../../src/sandbox/rest/rest-context.ts';
import { rateLimited } from './rate-limits.ts';

interface OnRoute {
  /** Method and path after `/api/v10`, with `*` for any one segment; `*` alone for every request. A file lies below `/attachments`. */
  readonly route: string;
  /** How often; 1 if not said. */
  readonly times?: number;
  /** So many requests of the route pass first. */
  readonly after?: number;
}

/** What goes wrong with a request. */
export type Fault = OnRoute &
  (
    | {
        readonly kind: '429';
        readonly retryAfterSeconds?: number;
        /** As in `x-ratelimit-scope`. */
        readonly scope?: 'user' | 'shared' | 'global';
      }
    /** Answered by this status, with an error body of Discord's form. */
    | { readonly kind: 'status'; readonly status: number; readonly code?: number; readonly message?: string }
    /** Answered by a page of Cloudflare's: a ban (429, or 403 without a time), or an outage. */
    | { readonly kind: 'cloudflare'; readonly status?: number; readonly retryAfterSeconds?: number }
    | { readonly kind: 'latency'; readonly milliseconds: number }
    /** The connection breaks before the request is carried out. */
    | { readonly kind: 'reset' }
    /** The request is carried out, then the connection breaks: the bot cannot know. */
    | { readonly kind: 'lost' }
    /** Answered by this, as it is. */
    | {
        readonly kind: 'answer';
        readonly status: number;
        readonly body: unknown;
        readonly headers?: Record<string, string>;
      }
  );

/** What the gateway does wrong with the next connections; `times` counts them, 1 if not said. */
export type GatewayFault =
  /** None is made. */
  | { readonly kind: 'refused'; readonly times?: number }
  /** Identifying and resuming are answered by this close code. */
  | { readonly kind: 'closed'; readonly code: number; readonly times?: number };

/** How the gateway's connections are made to end. */
export interface ConnectionDrop {
  /** `reconnect` is op 7, `invalidate` op 9, `cut` a lost network; `close` if not said. */
  readonly how?: 'close' | 'cut' | 'reconnect' | 'invalidate';
  /** Whether the session may be resumed; it may if not said. */
  readonly resumable?: boolean;
  /** The code that a close has; 4000, an unknown error, if not said. */
  readonly code?: number;
  /** The resume sends so many events again that the client has already had. */
  readonly repeat?: number;
  /** Of this shard only. */
  readonly shard?: number;
}

type Outcome = Awaited<ReturnType<Interception['meet']>>;

/** The faults that are set: each request meets at most one, the first that is not used up. */
export function createFaults() {
  let pending: { readonly fault: Fault; left: number; toPass: number }[] = [];
  let ofGateway: { readonly fault: GatewayFault; left: number }[] = [];

  function take({ method, path }: ApiRequest): Fault | undefined {
    for (const entry of pending) {
      if (entry.left <= 0 || !routePattern(entry.fault.route).test(`${method} ${path}`)) continue;
      if (entry.toPass > 0) {
        entry.toPass -= 1;
        continue;
      }
      entry.left -= 1;
      return entry.fault;
    }
    return undefined;
  }

  return {
    add(fault: Fault): void {
      pending.push({ fault, left: fault.times ?? 1, toPass: fault.after ?? 0 });
    },
    addToGateway(fault: GatewayFault): void {
      ofGateway.push({ fault, left: fault.times ?? 1 });
    },
    clear(): void {
      pending = [];
      ofGateway = [];
    },
    async meet(request: ApiRequest): Promise<Outcome> {
      const fault = take(request);
      return fault && (await outcomeOf(fault));
    },
    refusal(step: 'connect' | 'authenticate'): number | undefined {
      const kind = step === 'connect' ? 'refused' : 'closed';
      const entry = ofGateway.find(({ fault, left }) => left > 0 && fault.kind === kind);
      if (entry === undefined) return undefined;
      entry.left -= 1;
      return entry.fault.kind === 'closed' ? entry.fault.code : 503;
    },
    drop(
      gateway: Gateway,
      { how = 'close', resumable = true, code = 4000, repeat = 0, shard }: ConnectionDrop,
    ): number {
      const connected = [...gateway.connections].flatMap((connection) => {
        const { session } = connection;
        return session === undefined || (shard !== undefined && session.shard.id !== shard)
          ? []
          : [{ connection, session }];
      });
      for (const { connection, session } of connected) {
        session.repeatAtResume(repeat);
        if (!resumable || how === 'invalidate') gateway.sessions.delete(session.id);
        if (how === 'reconnect') connection.requestReconnect();
        else if (how === 'invalidate') connection.invalidate();
        else if (how === 'cut') connection.cut();
        else connection.close(code);
      }
      return connected.length;
    },
  };
}

async function outcomeOf(fault: Fault): Promise<Outcome> {
  switch (fault.kind) {
    case 'latency':
      await sleep(fault.milliseconds);
      return undefined;
    case 'reset':
      return { breaks: 'before' };
    case 'lost':
      return { breaks: 'after' };
    case 'answer':
      return { headers: fault.headers, answer: { status: fault.status, body: fault.body } };
    case 'status': {
      const { status, code = 0, message = 'Set by the test' } = fault;
      return { answer: { status, body: { code, message } } };
    }
    case 'cloudflare': {
      const { status = 429, retryAfterSeconds } = fault;
      const body =
        '<!DOCTYPE html><title>Access denied | discord.com used Cloudflare to restrict access</title>';
      const headers = {
        'content-type': 'text/html; charset=UTF-8',
        ...(retryAfterSeconds !== undefined && { 'retry-after': String(retryAfterSeconds) }),
      };
      return { headers, answer: { status, body } };
    }
    case '429': {
      const { scope = 'user', retryAfterSeconds: seconds = 1 } = fault;
      if (scope === 'global')
        return rateLimited(seconds, true, { 'x-ratelimit-scope': scope, 'x-ratelimit-global': 'true' });
      return rateLimited(seconds, false, {
        'x-ratelimit-scope': scope,
        // A limit that is shared with others is hit while one's own is not used up.
        'x-ratelimit-limit': '5',
        'x-ratelimit-remaining': scope === 'shared' ? '4' : '0',
        'x-ratelimit-reset-after': seconds.toFixed(3),
        'x-ratelimit-reset': (Date.now() / 1000 + seconds).toFixed(3),
        'x-ratelimit-bucket': 'sandbox',
      });
    }
  }
}

export function routePattern(route: string): RegExp {
  if (route === '*') return /^/;
  const source = route
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^/ ]+');
  return new RegExp(`^${source}$`);
}
