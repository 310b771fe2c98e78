import { z } from 'zod';

const onRoute = {
  /** Method and path after `/api/v10`, with `*` for any one segment; `*` alone for every request. */
  route: z.string().min(1),
  /** How often; 1 if not said. */
  times: z.int().positive().default(1),
  /** So many requests of the route pass first. */
  after: z.int().nonnegative().default(0),
};

/** What goes wrong with a request. */
export const faultSchema = z.discriminatedUnion('kind', [
  /** Answered by 429; the scope as in `x-ratelimit-scope`. */
  z.strictObject({
    kind: z.literal('429'),
    retryAfterSeconds: z.number().positive().default(1),
    scope: z.enum(['user', 'shared', 'global']).default('user'),
    ...onRoute,
  }),
  /** Answered by this status, with an error body of Discord's form. */
  z.strictObject({
    kind: z.literal('status'),
    status: z.int().min(400).max(599),
    code: z.int().default(0),
    message: z.string().default('Set by the sandbox'),
    ...onRoute,
  }),
  /** Answered by a page of Cloudflare's: a ban (429, or 403 without a time), or an outage. */
  z.strictObject({
    kind: z.literal('cloudflare'),
    status: z.int().min(400).max(599).default(429),
    retryAfterSeconds: z.int().positive().optional(),
    ...onRoute,
  }),
  /** Answered later. */
  z.strictObject({ kind: z.literal('latency'), milliseconds: z.int().positive(), ...onRoute }),
  /** The connection breaks before the request is carried out. */
  z.strictObject({ kind: z.literal('reset'), ...onRoute }),
  /** The request is carried out, then the connection breaks: the bot cannot know. */
  z.strictObject({ kind: z.literal('lost'), ...onRoute }),
]);

export type Fault = z.output<typeof faultSchema>;

/** What the gateway does wrong with the next connections; `times` counts them, 1 if not said. */
export const gatewayFaultSchema = z.discriminatedUnion('kind', [
  /** None is made. */
  z.strictObject({ kind: z.literal('refused'), times: z.int().positive().default(1) }),
  /** Identifying and resuming are answered by this close code. */
  z.strictObject({
    kind: z.literal('closed'),
    code: z.int().min(4000).max(4999),
    times: z.int().positive().default(1),
  }),
]);

export type GatewayFault = z.output<typeof gatewayFaultSchema>;

/** A connection is given by what it is about to do. */
export type GatewayFaults = PendingFaults<GatewayFault>;
export function createGatewayFaults(): GatewayFaults {
  return new PendingFaults(({ kind }, step) => (kind === 'refused') === (step === 'connect'));
}

/** The faults that are set: each request meets at most one, the first that is not used up. */
class PendingFaults<Kind extends { readonly times: number; readonly after?: number }> {
  #pending: { readonly fault: Kind; left: number; toPass: number }[] = [];
  readonly #meets: (fault: Kind, target: string) => boolean;

  constructor(meets: (fault: Kind, target: string) => boolean) {
    this.#meets = meets;
  }

  add(fault: Kind): void {
    this.#pending.push({ fault, left: fault.times, toPass: fault.after ?? 0 });
  }

  clear(): void {
    this.#pending = [];
  }

  /** What goes wrong with this one; counts it. */
  take(target: string): Kind | undefined {
    for (const entry of this.#pending) {
      if (entry.left <= 0 || !this.#meets(entry.fault, target)) continue;
      if (entry.toPass > 0) {
        entry.toPass -= 1;
        continue;
      }
      entry.left -= 1;
      return entry.fault;
    }
    return undefined;
  }
}

/** A request is given by its method and path. */
export type Faults = PendingFaults<Fault>;
export function createFaults(): Faults {
  return new PendingFaults(({ route }, request) => routePattern(route).test(request));
}

function routePattern(route: string): RegExp {
  if (route === '*') return /^/;
  const source = route
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^/ ]+');
  return new RegExp(`^${source}$`);
}

const onFile = {
  /** The name of the file; every file if not said. */
  file: z.string().optional(),
  /** How often; 1 if not said. */
  times: z.int().positive().default(1),
};

/** What the CDN does wrong with a file. */
export const cdnFaultSchema = z.discriminatedUnion('kind', [
  /** Sends the client elsewhere. */
  z.strictObject({ kind: z.literal('redirect'), to: z.url(), ...onFile }),
  /** Sends so many bytes, whatever the message announced, and does not say so before. */
  z.strictObject({ kind: z.literal('larger'), bytes: z.int().positive(), ...onFile }),
]);

export type CdnFault = z.output<typeof cdnFaultSchema>;

/** A download is given by the file's name. */
export type CdnFaults = PendingFaults<CdnFault>;
export function createCdnFaults(): CdnFaults {
  return new PendingFaults(({ file }, name) => file === undefined || file === name);
}
