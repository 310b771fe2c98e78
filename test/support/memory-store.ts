import type { z } from 'zod';

import { NewerVersionError, StoreError } from '../../src/core/errors.ts';
import type { DocumentKind, LogEntry, LogState, Store } from '../../src/core/store.ts';
import { assertKey } from '../../src/storage/keys.ts';

interface Line {
  readonly sequence: number;
  readonly json: string | undefined;
}

/** By key, the text that was read and what it came to. */
type ReadDocuments<T> = Map<string, { readonly text: string; readonly document: T }>;

/** A `Store` in memory, for tests that run thousands of sequences; it passes the same contract suite as the files. It keeps no backups: every change erases. */
export class MemoryStore implements Store {
  readonly #texts = new Map<string, string>();
  /** By kind of document and key, what was read last, which is frozen: most are read many times before they change. */
  readonly #read = new WeakMap<object, ReadDocuments<unknown>>();
  readonly #logs = new Map<string, Line[]>();
  readonly #editions = new Map<string, number>();

  read<T extends { readonly version: number }>(key: string, kind: DocumentKind<T>): Promise<T | undefined> {
    return settled(() => this.#parse(key, kind));
  }

  update<T extends { readonly version: number }>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
  ): Promise<T | undefined> {
    return settled(() => {
      const current = this.#parse(key, kind);
      const next = change(current);
      if (next === undefined || next === current) return current;
      const text = JSON.stringify(next);
      const stored = parseDocument(key, text, kind);
      if (stored === undefined) throw new StoreError(`${key} was not stored`, key);
      this.#texts.set(key, text);
      this.#readOf(kind).set(key, { text, document: stored });
      return stored;
    });
  }

  append(log: string, record: object): Promise<number> {
    return settled(() => {
      const lines = this.#linesOf(log);
      const sequence = (lines.at(-1)?.sequence ?? 0) + 1;
      lines.push({ sequence, json: JSON.stringify(record) });
      return sequence;
    });
  }

  async *scan<T>(
    log: string,
    schema: z.ZodType<T>,
    options: { readonly after?: number } = {},
  ): AsyncIterable<LogEntry<T>> {
    for (const { sequence, json } of this.#linesOf(log).slice()) {
      if (json === undefined || sequence <= (options.after ?? 0)) continue;
      const parsed = schema.safeParse(JSON.parse(json));
      if (parsed.success) yield { sequence, record: parsed.data };
    }
  }

  logState(log: string): Promise<LogState> {
    return settled(() => ({
      last: this.#linesOf(log).findLast(({ json }) => json !== undefined)?.sequence ?? 0,
      edition: this.#editions.get(log) ?? 0,
      highest: this.#linesOf(log).at(-1)?.sequence ?? 0,
    }));
  }

  rewrite<T>(
    log: string,
    schema: z.ZodType<T>,
    change: (entry: LogEntry<T>) => T | undefined,
  ): Promise<void> {
    return settled(() => {
      const lines = this.#linesOf(log).map(({ sequence, json }) => {
        if (json === undefined) return { sequence, json };
        const present = schema.safeParse(JSON.parse(json));
        if (!present.success) return { sequence, json };
        const record = change({ sequence, record: present.data });
        return { sequence, json: record === undefined ? undefined : JSON.stringify(record) };
      });
      this.#logs.set(log, lines);
      this.#beginEdition(log);
    });
  }

  readText(key: string): Promise<string | undefined> {
    return settled(() => this.#texts.get(assertKey(key)));
  }

  writeText(key: string, text: string): Promise<void> {
    return settled(() => {
      this.#texts.set(assertKey(key), text);
    });
  }

  list(folder: string): Promise<readonly { readonly path: string; readonly bytes: number }[]> {
    return settled(() => {
      const prefix = `${assertKey(folder)}/`;
      const texts = [...this.#texts].filter(([key]) => key.startsWith(prefix));
      const logs = [...this.#logs]
        .filter(([key]) => key.startsWith(prefix))
        .map(([key, lines]): [string, string] => [key, lines.map(({ json }) => json).join('\n')]);
      return [...texts, ...logs]
        .map(([key, text]) => ({ path: key.slice(prefix.length), bytes: Buffer.byteLength(text) }))
        .toSorted((a, b) => (a.path < b.path ? -1 : 1));
    });
  }

  async folders(
    folder: string,
    name = '',
  ): Promise<readonly { readonly name: string; readonly changedAt: number }[]> {
    const files = await this.list(folder);
    const names = files.flatMap(({ path }) => (path.includes('/') ? [path.slice(0, path.indexOf('/'))] : []));
    return Array.from(new Set(names), (each) => ({
      name: each,
      changedAt: files.some(({ path }) => path.startsWith(`${each}/${name}`)) ? Date.now() : 0,
    }));
  }

  remove(key: string): Promise<void> {
    return settled(() => {
      this.#texts.delete(assertKey(key));
      this.#logs.delete(key);
      this.#beginEdition(key);
    });
  }

  removeAll(prefix: string): Promise<void> {
    return settled(() => {
      const folder = `${assertKey(prefix)}/`;
      for (const keys of [this.#texts, this.#logs]) {
        for (const key of Array.from(keys.keys())) {
          if (!key.startsWith(folder)) continue;
          keys.delete(key);
          this.#beginEdition(key);
        }
      }
    });
  }

  /** All that is stored, as one text. */
  everything(): Promise<string> {
    return settled(() => {
      const lines = [...this.#logs.values()].flatMap((log) => log.map(({ json }) => json ?? ''));
      return [...this.#texts.values(), ...lines].join('\n');
    });
  }

  #beginEdition(key: string): void {
    this.#editions.set(key, (this.#editions.get(key) ?? 0) + 1);
  }

  #linesOf(log: string): Line[] {
    const lines = this.#logs.get(assertKey(log)) ?? [];
    this.#logs.set(log, lines);
    return lines;
  }

  #readOf<T extends { readonly version: number }>(kind: DocumentKind<T>): ReadDocuments<T> {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what is kept under a kind was read by it
    const known = this.#read.get(kind) as ReadDocuments<T> | undefined;
    if (known !== undefined) return known;
    const fresh: ReadDocuments<T> = new Map();
    this.#read.set(kind, fresh);
    return fresh;
  }

  #parse<T extends { readonly version: number }>(key: string, kind: DocumentKind<T>): T | undefined {
    const text = this.#texts.get(assertKey(key));
    if (text === undefined) return undefined;
    const known = this.#readOf(kind).get(key);
    if (known?.text === text) return known.document;
    const document = parseDocument(key, text, kind);
    if (document === undefined) throw new StoreError(`${key} is not readable`, key);
    this.#readOf(kind).set(key, { text, document });
    return document;
  }
}

/** The document, frozen; `undefined` where the schema refuses it. */
function parseDocument<T extends { readonly version: number }>(
  key: string,
  text: string,
  kind: DocumentKind<T>,
): T | undefined {
  const json: unknown = JSON.parse(text);
  const version = typeof json === 'object' && json !== null && 'version' in json ? Number(json.version) : 0;
  if (version > kind.version) throw new NewerVersionError(key, version, kind.version);
  const parsed = kind.schema.safeParse(json);
  return parsed.success ? freezeDeep(parsed.data) : undefined;
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(Object.freeze(value))) freezeDeep(part);
  return value;
}

async function settled<T>(work: () => T): Promise<T> {
  await Promise.resolve();
  return work();
}
