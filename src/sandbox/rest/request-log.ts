/** A request that the bot made. */
export interface RecordedRequest {
  readonly method: string;
  /** Without `/api/v10` and the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** JSON as it came; of an upload the JSON part with the files' names as `files`. */
  readonly body: unknown;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** 0 until it is answered, and where it never was. */
  status: number;
  /** Refused by a limit that the bot shares with others: it could not know. */
  isSharedLimit: boolean;
}

/**
 * Whether it counts against a bot, which Discord shuts out after 10,000 within ten minutes: refused for want of a right, or by
 * a limit of its own.
 */
export function isInvalid({ status, isSharedLimit }: RecordedRequest): boolean {
  return status === 401 || status === 403 || (status === 429 && !isSharedLimit);
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
