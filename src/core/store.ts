import type { z } from 'zod';

export interface Versioned {
  readonly version: number;
}

/** `schema` is that of the whole, `version` included. */
export interface DocumentKind<T extends Versioned> {
  readonly version: number;
  readonly schema: z.ZodType<T>;
}

/** `sequence` starts at 1, grows by one an append, and is never reused in a log. */
export interface LogEntry<T> {
  readonly sequence: number;
  readonly record: T;
}

/** How far a log goes, and whether a reader's lines are still valid. */
export interface LogState {
  /** The sequence number of the newest record, 0 for an empty or absent log. */
  readonly last: number;
  /** Changes, never to an earlier value, when any process rewrites or removes the log; not by appending. */
  readonly edition: number;
  /** The highest sequence number ever given out, also to a record that was removed since. */
  readonly highest: number;
}

export interface StoredFile {
  /** Relative to the listed folder, with `/`. */
  readonly path: string;
  /** Bytes on disk. */
  readonly bytes: number;
}

/** An unreadable document was moved into quarantine [S5]. */
export interface SetAside {
  readonly key: string;
  /** When; ISO 8601, UTC. */
  readonly at: string;
  /** The age of the copy used instead, ISO 8601; absent without one. */
  readonly copyFrom?: string;
}

export interface ErasingOption {
  /** Whether the former content is erased (see `Store`); a function is asked after the change. Default: false. */
  readonly erase?: boolean | (() => boolean);
}

/**
 * Durable storage under slash-separated keys such as `users/<userId>/durable.json`. The contract, which every
 * implementation passes as one test suite:
 *
 * - A key is relative, made of `[A-Za-z0-9._-]` segments that neither begin with a dot nor end in `.bak`;
 *   below `users/<id>/notebook/` and `sessions/<id>/<id>/detail/` letters, marks and numbers of any script
 *   count too; below `workspace/` all but backslashes and control characters; otherwise `RangeError`.
 * - When a change resolves, it survives `kill -9` and power loss [S2].
 * - When one rejects (`StoreError`), the last good state is intact; nothing half-written is ever read. Only
 *   `removeAll` may have removed its folder by then, where not all of it could be erased.
 * - `writeText`, `rewrite`, `remove` and `removeAll` **erase** [S7], and so does `update` where asked to: when
 *   one resolves, nothing that its keys held before stands in any file of the store, not even in a backup, a
 *   temporary file or quarantine. Where `change` changes nothing, the copies are erased or replaced all the
 *   same. After a rejection or `kill -9` the same call once more finishes it.
 * - A document is its own last good copy: damage by hand costs nothing that was stored [S4].
 * - Changes to one key happen in order, also between the processes that the implementation supports.
 * - A read is never older than what any process had resolved when it was asked for.
 * - Callers never retry; the store does what can be retried.
 */
export interface Store {
  /** An unreadable document is quarantined and its copy used [S4]. Rejects with `NewerVersionError`. */
  read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined>;
  /**
   * Serialised read-modify-write; resolves with what is stored. `change` may run again after a conflict, so it
   * must have no effects; its result may be frozen. Returning its own argument, or `undefined`, changes
   * nothing.
   */
  update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    options?: ErasingOption,
  ): Promise<T | undefined>;

  /** Appends a JSON record; resolves with its sequence number. */
  append(log: string, record: object): Promise<number>;
  /**
   * Entries in order, after `after` where given (cost grows with what is returned, not with the log). Lines
   * that the schema refuses are skipped and counted in a warning.
   */
  scan<T>(
    log: string,
    schema: z.ZodType<T>,
    options?: { readonly after?: number },
  ): AsyncIterable<LogEntry<T>>;
  logState(log: string): Promise<LogState>;
  /**
   * Replaces each record by what `change` returns, where `undefined` removes it, and erases the former content.
   * Sequence numbers and lines that the schema refuses stay.
   */
  rewrite<T>(log: string, schema: z.ZodType<T>, change: (entry: LogEntry<T>) => T | undefined): Promise<void>;

  readText(key: string): Promise<string | undefined>;
  writeText(key: string, text: string): Promise<void>;
  /** Files with a key, sorted by path; never `.bak`, hidden or temporary ones. */
  list(folder: string): Promise<readonly StoredFile[]>;
  /**
   * Folders directly below a folder, in any order, each with when `name` in it, or itself, was last changed:
   * milliseconds since the epoch, 0 for none. Reads a few at a time.
   */
  folders(
    folder: string,
    name?: string,
  ): Promise<readonly { readonly name: string; readonly changedAt: number }[]>;
  /** Erases a document, log or text file; absent is fine. */
  remove(key: string): Promise<void>;
  /** Erases everything below a folder. */
  removeAll(prefix: string): Promise<void>;
}

/** Absent before the first write. */
export interface LastWrite {
  readonly at: Date;
  readonly isOk: boolean;
  /** Milliseconds for which all writes up to this one have failed. */
  readonly failingMs?: number;
}
