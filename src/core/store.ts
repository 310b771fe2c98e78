import type { z } from 'zod';

/** What every document holds. */
export interface Versioned {
  readonly version: number;
}

/** A kind of document: its present version number and the schema of the whole, `version` included. */
export interface DocumentKind<T extends Versioned> {
  readonly version: number;
  readonly schema: z.ZodType<T>;
}

/** One line of a log. `sequence` starts at 1, grows by one an append, and is never used twice in a log. */
export interface LogEntry<T> {
  readonly sequence: number;
  readonly record: T;
}

/** How far a log goes, and what tells a reader that the lines it has kept are still the same. */
export interface LogState {
  /** The sequence number of the newest record, 0 for an empty or absent log. */
  readonly last: number;
  /** Another one after the log was rewritten or removed, by whichever process; appending leaves it. It may change without reason, and never comes back. */
  readonly edition: number;
}

/** From which edition of a log to which it was rewritten; the same one where nothing was changed. */
export interface RewrittenLog {
  readonly from: number;
  readonly to: number;
}

export interface StoredFile {
  /** Relative to the listed folder, with `/`. */
  readonly path: string;
  /** Bytes on disk. */
  readonly bytes: number;
}

/** A document that could not be read was moved into quarantine [S5]. */
export interface SetAside {
  readonly key: string;
  /** When; ISO 8601, UTC. */
  readonly at: string;
  /** From when the good copy is that is used in its place, ISO 8601; absent where there is none. */
  readonly copyFrom?: string;
}

export interface ErasingOption {
  /** Whether what stood there before is erased, as `Store` says. Default: false, it is kept as the last good copy. */
  readonly erase?: boolean;
}

/**
 * Durable storage under slash-separated keys such as `users/<userId>/durable.json`. The contract, which every
 * implementation passes as one test suite:
 *
 * - A key is relative, made of `[A-Za-z0-9._-]` segments that neither begin with a dot nor end in `.bak`; below `users/<id>/notebook/` and
 *   `sessions/<id>/<id>/detail/` letters, marks and numbers of any script count too; below `workspace/`, whose files people name as they
 *   like, all characters but backslashes and control characters; otherwise `RangeError`.
 * - When `update`, `append`, `rewrite`, `writeText`, `remove` or `removeAll` resolves, the change survives `kill -9` and power loss [S2].
 * - When one rejects (`StoreError`), the last good state is intact; nothing half-written is ever read. Only `removeAll` may have removed
 *   its folder by then, where not all of it could be erased.
 * - `rewrite`, `remove` and `removeAll` **erase** [S7], and so do `update` and `writeText` where they are asked to: when one resolves, no byte of
 *   what its keys held before, and hold no more, stands in any file of the store, not even in a backup, a temporary file or a copy in
 *   quarantine. The new content is then its own last good copy. Where `change` changes nothing, the document or log stays as it is,
 *   and its copies are erased or replaced all the same. After a rejection or `kill -9` the same call once more finishes it.
 * - Changes to one key happen one after the other, also between processes that the implementation supports.
 * - A read, of whatever kind, is never older than what any process had resolved when it was asked for. What an implementation keeps in memory, it checks.
 * - Callers never retry; the store does what can be retried.
 */
export interface Store {
  /** The document, or `undefined` when there is none. An unreadable one is put into quarantine and its last good copy is used [S4]. A newer version rejects with `NewerVersionError`. */
  read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined>;
  /**
   * Serialised read-modify-write; resolves with what is stored then. `change` may run again after a conflict, so it must
   * have no effects of its own; what it returns is the store's then, which may freeze it; returning the very object it was given, or `undefined`,
   * leaves the document as it is.
   */
  update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    /** As for `writeText`; a function is asked when the change was made. */
    options?: { readonly erase?: boolean | (() => boolean) },
  ): Promise<T | undefined>;

  /** Adds one JSON record at the end of a log; resolves with its sequence number. */
  append(log: string, record: object): Promise<number>;
  /**
   * Entries in order, only those after `after` where given (cost grows with what is returned, not with the log). Lines that
   * the schema refuses are skipped and counted in the warning log.
   */
  scan<T>(
    log: string,
    schema: z.ZodType<T>,
    options?: { readonly after?: number },
  ): AsyncIterable<LogEntry<T>>;
  /** The sequence number of the newest record, 0 for an empty or absent log. */
  lastSequence(log: string): Promise<number>;
  logState(log: string): Promise<LogState>;
  /**
   * Replaces each record by what `change` returns, where `undefined` removes it, and erases what was there before. Sequence numbers stay,
   * and so do lines that the schema refuses. Resolves with what tells whether anybody else rewrote it.
   */
  rewrite<T>(
    log: string,
    schema: z.ZodType<T>,
    change: (entry: LogEntry<T>) => T | undefined,
  ): Promise<RewrittenLog>;

  /** A text file's content, or `undefined` when there is none. */
  readText(key: string): Promise<string | undefined>;
  /** Replaces a text file; its previous content is kept beside it as `.bak`, unless it is erased. */
  writeText(key: string, text: string, options?: ErasingOption): Promise<void>;
  /** The files below a folder that have a key, sorted by path; so never `.bak`, hidden or temporary files. */
  list(folder: string): Promise<readonly StoredFile[]>;
  /**
   * The folders directly below a folder, in any order, each with when the file or folder `name` in it, or without a name the folder itself, was last
   * changed, in milliseconds since the epoch; 0 where there is none. However many there are, it reads a few at a time and leaves the disk to others between.
   */
  folders(
    folder: string,
    name?: string,
  ): Promise<readonly { readonly name: string; readonly changedAt: number }[]>;
  /** Removes a document, log or text file, and erases it; absent is fine. */
  remove(key: string): Promise<void>;
  /** Removes everything below a folder, and erases it. */
  removeAll(prefix: string): Promise<void>;
}

/** How the newest write to the store went; absent before the first. */
export interface LastWrite {
  readonly at: Date;
  readonly isOk: boolean;
}
