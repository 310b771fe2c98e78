/** What waits of one person, taken by one process at a time. */
export interface WorkLease {
  readonly userId: string;
  /** What was added, each once. */
  readonly keys: readonly string[];
  /** Aborted where the work is to end: the queue stops, the person's work is ended or dropped, or the lease is lost. From then on it stores nothing. */
  readonly signal: AbortSignal;
}

/**
 * Work that waits by person [X2]: one person's in order and in one process at a time, different people's side by side. What came in a burst is one lease. Work that was
 * taken and not finished, since its process is gone or lost the lease, is taken again, so it must be safe to repeat.
 */
export interface WorkQueue {
  /**
   * Adds a key of a person, from `at` on; by default now, which means a moment later, so that what follows at once comes with it. A key that waits already is taken
   * at the earlier of both times; one that is being worked on is taken once more afterwards. Resolves when it would outlive the process, as far as this queue
   * does at all; rejects with `StoreError`.
   */
  add(userId: string, key: string, at?: Date): Promise<void>;
  /** Takes work from now on, which is over when it resolves; where it rejects, it is taken again in a while. To be called once. */
  start(work: (lease: WorkLease) => Promise<void>): void;
  /** Ends what runs of a person in this process; it is taken again, by whichever process. */
  end(userId: string): void;
  /** The same, and drops what was added of the person until now, for all processes. Never rejects. */
  drop(userId: string): Promise<void>;
  /** People whose work runs here, or waits to be taken now as far as this process knows. */
  readonly size: number;
  /** Resolves when nothing runs here and, as long as it takes work, nothing is to be taken now, whoever added it. What rests begins. */
  idle(): Promise<void>;
  /** Takes nothing more; what runs goes on. What waits, or is added yet, is taken after the next start, or by another process. */
  stopTaking(): void;
  /** Takes nothing more, and ends what runs; what is left is taken after the next start, or by another process. */
  stop(): void;
}
