/** What goes wrong with a request. */
export type FaultKind =
  /** Answered by 429 with `retryAfterSeconds`; the scope as in `x-ratelimit-scope`. */
  | { readonly kind: '429'; readonly retryAfterSeconds: number; readonly scope: 'user' | 'shared' | 'global' }
  /** Answered by this status, with an error body of Discord's form where there is a `code`. */
  | { readonly kind: 'status'; readonly status: number; readonly code: number; readonly message: string }
  /** Answered later, in milliseconds. */
  | { readonly kind: 'latency'; readonly milliseconds: number }
  /** The connection breaks before the request is carried out. */
  | { readonly kind: 'reset' }
  /** The request is carried out, then the connection breaks: the bot cannot know. */
  | { readonly kind: 'lost' };

export interface Fault {
  readonly fault: FaultKind;
  // A line comment, because the pattern itself would end a block.
  // Method and path, `*` for any one segment, as in `POST /channels/*/messages`; `*` alone for every request.
  readonly route: string;
  /** How often. */
  readonly times: number;
  /** So many requests of the route pass first. */
  readonly after: number;
}

/** The faults that are set: each request meets at most one, the first set that is not used up. */
export class Faults {
  #pending: { readonly fault: Fault; readonly pattern: RegExp; left: number; toPass: number }[] = [];

  add(fault: Fault): void {
    this.#pending.push({ fault, pattern: routePattern(fault.route), left: fault.times, toPass: fault.after });
  }

  clear(): void {
    this.#pending = [];
  }

  /** What goes wrong with this request; counts it. */
  take(method: string, path: string): FaultKind | undefined {
    for (const entry of this.#pending) {
      if (entry.left <= 0 || !entry.pattern.test(`${method} ${path}`)) continue;
      if (entry.toPass > 0) {
        entry.toPass -= 1;
        continue;
      }
      entry.left -= 1;
      return entry.fault.fault;
    }
    return undefined;
  }
}

function routePattern(route: string): RegExp {
  if (route === '*') return /^/;
  const source = route
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^/ ]+');
  return new RegExp(`^${source}$`);
}
