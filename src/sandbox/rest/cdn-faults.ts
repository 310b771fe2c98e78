/** What the CDN does wrong with a file. */
export type CdnFaultKind =
  /** Sends the client elsewhere. */
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'status'; readonly status: number }
  /** Does not say how long the file is. */
  | { readonly kind: 'no-length' }
  /** Sends so many bytes, whatever the message announced; without `withLength` it does not say so before. */
  | { readonly kind: 'larger'; readonly bytes: number; readonly withLength: boolean }
  /** Sends half of the file, and the rest so many milliseconds later. */
  | { readonly kind: 'slow'; readonly milliseconds: number }
  | { readonly kind: 'type'; readonly contentType: string }
  /** Breaks the connection in the middle of the file. */
  | { readonly kind: 'cut' };

export interface CdnFault {
  readonly fault: CdnFaultKind;
  /** The name of the file; every file where there is none. */
  readonly file: string | undefined;
  /** How often. */
  readonly times: number;
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

/** What is to go wrong at the CDN: a download meets at most one fault, the first set that is not used up. */
export class CdnFaults {
  #pending: { readonly fault: CdnFault; left: number }[] = [];

  add(fault: CdnFault): void {
    this.#pending.push({ fault, left: fault.times });
  }

  clear(): void {
    this.#pending = [];
  }

  /** What goes wrong with this file now; counts it. */
  take(file: string): CdnFaultKind | undefined {
    const entry = this.#pending.find(
      ({ fault, left }) => left > 0 && (fault.file === undefined || fault.file === file),
    );
    if (entry === undefined) return undefined;
    entry.left -= 1;
    return entry.fault.fault;
  }
}
