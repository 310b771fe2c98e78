import type { Clock } from '../world/snowflakes.ts';

/** A request that the bot made. */
export interface RecordedRequest {
  readonly method: string;
  /** Without `/api/v10` and the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** JSON as it came, `allowed_mentions` and `nonce` included; of an upload the JSON part with the files' names as `files`. */
  readonly body: unknown;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** 0 until it is answered, and where it never was. */
  status: number;
  /** Refused by a limit that the bot shares with others: it could not know. */
  isSharedLimit: boolean;
}

/** So many of the newest requests are kept. */
const kept = 20_000;

/** Every REST request, oldest first. */
export class RequestLog {
  readonly #now: Clock;
  readonly #requests: RecordedRequest[] = [];

  constructor(now: Clock) {
    this.#now = now;
  }

  add(request: Pick<RecordedRequest, 'method' | 'path' | 'query' | 'body'>): RecordedRequest {
    const recorded: RecordedRequest = {
      ...request,
      at: this.#now().toISOString(),
      status: 0,
      isSharedLimit: false,
    };
    this.#requests.push(recorded);
    if (this.#requests.length > kept) this.#requests.shift();
    return recorded;
  }

  /**
   * Those that count against a bot, which Discord shuts out after 10,000 within ten minutes: refused for want of a right, or
   * by a limit of its own.
   */
  invalid(): readonly RecordedRequest[] {
    return this.#requests.filter(
      ({ status, isSharedLimit }) => status === 401 || status === 403 || (status === 429 && !isSharedLimit),
    );
  }

  all(): readonly RecordedRequest[] {
    return this.#requests;
  }
}

/** A file that somebody fetched. */
export interface Download {
  /** With its query. */
  readonly path: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly status: number;
  /** Whether the bot gave away its token, which files do not need. */
  readonly sentToken: boolean;
}
