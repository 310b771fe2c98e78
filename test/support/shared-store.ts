import { setImmediate } from 'node:timers/promises';

import { StoreError } from '../../src/core/errors.ts';
import type { Notice, Processes } from '../../src/core/processes.ts';
import type { Store } from '../../src/core/store.ts';
import type { WorkLease, WorkQueue } from '../../src/core/work-queue.ts';
import { MemoryStore } from './memory-store.ts';

interface Waiting {
  readonly keys: Map<string, number>;
  /** The process that has it. */
  holder: SharedProcess | undefined;
}

/** What of it may be refused. */
export type Operation = keyof Store | 'hold' | 'claim' | 'add';

export interface SharedOptions {
  /** How many turns of the event loop an operation takes, before or after it is done; each asks again. */
  readonly pause?: (() => number) | undefined;
  /** Whether a notice arrives. Default: all do. */
  readonly arrives?: () => boolean;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/**
 * What several processes share instead of a database: one slow store in memory, locks, notices that may be lost,
 * and work leased by person. A killed process does nothing more: what it waits for never comes.
 */
export class SharedData {
  readonly common = new MemoryStore();
  readonly processes = new Set<SharedProcess>();
  readonly locks = new Map<string, SharedProcess>();
  readonly work = new Map<string, Waiting>();
  readonly options: SharedOptions;

  constructor(options: SharedOptions) {
    this.options = options;
  }

  open(): SharedProcess {
    const process = new SharedProcess(this);
    this.processes.add(process);
    return process;
  }

  /** Whether anything waits by now, or runs. */
  get isBusy(): boolean {
    const now = this.options.now();
    return [...this.work.values()].some(
      ({ holder, keys }) => holder !== undefined || [...keys.values()].some((at) => at <= now),
    );
  }
}

export class SharedProcess {
  readonly store: Store;
  readonly shared: { readonly processes: Processes; readonly work: WorkQueue };
  /** Which operations the database refuses this process; what it waits for comes before. Default: none. */
  refuses: ((operation: Operation, key: string) => boolean | Promise<boolean>) | undefined;
  readonly #data: SharedData;
  #isDead = false;
  #listener: ((notice: Notice) => void) | undefined;
  #take: ((lease: WorkLease) => Promise<void>) | undefined;
  readonly #leases = new Map<string, { readonly end: AbortController; readonly keys: readonly string[] }>();

  constructor(data: SharedData) {
    this.#data = data;
    this.store = this.#view(data.common);
    this.shared = { processes: { locks: this.#locks(), notices: this.#notices() }, work: this.#queue() };
  }

  kill(): void {
    this.#isDead = true;
    this.#data.processes.delete(this);
    for (const [key, holder] of this.#data.locks) if (holder === this) this.#data.locks.delete(key);
    // What it had is there for the next.
    for (const [userId, waiting] of this.#data.work) {
      if (waiting.holder !== this) continue;
      waiting.holder = undefined;
      for (const key of this.#leases.get(userId)?.keys ?? []) waiting.keys.set(key, 0);
    }
  }

  /** Resolves where the process is alive still. */
  async #passes(): Promise<void> {
    for (let turns = this.#data.options.pause?.() ?? 0; turns > 0; turns -= 1) await setImmediate();
    if (this.#isDead) await new Promise<never>(() => undefined);
  }

  async #reach(operation: Operation, key: string): Promise<void> {
    await this.#passes();
    if ((await this.refuses?.(operation, key)) === true)
      throw new StoreError(`${key}: ${operation} is refused`, key);
  }

  async #after<T>(operation: Operation, key: string, work: () => Promise<T>): Promise<T> {
    await this.#reach(operation, key);
    const result = await work();
    await this.#passes();
    return result;
  }

  #view(common: MemoryStore): Store {
    const after = <T>(operation: Operation, key: string, work: () => Promise<T>): Promise<T> =>
      this.#after(operation, key, work);
    const reach = (operation: Operation, key: string) => this.#reach(operation, key);
    // Whatever comes out of a database is another object each time.
    return {
      read: async (key, kind) => structuredClone(await after('read', key, () => common.read(key, kind))),
      async update(key, kind, change) {
        // A conflict: it was made for nothing, and is made again.
        const seen = await after('update', key, () => common.read(key, kind));
        change(structuredClone(seen));
        return structuredClone(await after('update', key, () => common.update(key, kind, change)));
      },
      append: (log, record) => after('append', log, () => common.append(log, record)),
      async *scan(log, schema, options) {
        await reach('scan', log);
        const entries = [];
        for await (const entry of common.scan(log, schema, options)) entries.push(entry);
        yield* entries;
      },
      logState: (log) => after('logState', log, () => common.logState(log)),
      rewrite: (log, schema, change) => after('rewrite', log, () => common.rewrite(log, schema, change)),
      readText: (key) => after('readText', key, () => common.readText(key)),
      writeText: (key, text) => after('writeText', key, () => common.writeText(key, text)),
      list: (folder) => after('list', folder, () => common.list(folder)),
      folders: (folder, name) => after('folders', folder, () => common.folders(folder, name)),
      remove: (key) => after('remove', key, () => common.remove(key)),
      removeAll: (prefix) => after('removeAll', prefix, () => common.removeAll(prefix)),
    };
  }

  #locks(): Processes['locks'] {
    const { locks } = this.#data;
    const held = new Set<string>();
    return {
      hold: async (key, job) => {
        if (held.has(key)) throw new Error(`${key} is asked for by the process that holds it`);
        await this.#reach('hold', key);
        while (locks.has(key)) await setImmediate();
        if (this.#isDead) await this.#passes();
        locks.set(key, this);
        held.add(key);
        try {
          return await job();
        } finally {
          held.delete(key);
          if (locks.get(key) === this) locks.delete(key);
        }
      },
      claim: async (key) => {
        await this.#reach('claim', key);
        if (locks.has(key)) return undefined;
        locks.set(key, this);
        return { release: () => Promise.resolve(void locks.delete(key)) };
      },
    };
  }

  #notices(): Processes['notices'] {
    return {
      tell: (notice) => {
        for (const other of this.#data.processes)
          if (other !== this && this.#data.options.arrives?.() !== false)
            void this.#passes().then(() => other.#listener?.(structuredClone(notice)));
      },
      listen: (listener) => {
        this.#listener = listener;
      },
    };
  }

  #queue(): WorkQueue {
    const { work } = this.#data;
    const leases = this.#leases;
    return {
      add: async (userId, key, at) => {
        await this.#reach('add', userId);
        const waiting = work.get(userId) ?? { keys: new Map<string, number>(), holder: undefined };
        work.set(userId, waiting);
        const time = at?.getTime() ?? 0;
        waiting.keys.set(key, Math.min(time, waiting.keys.get(key) ?? time));
      },
      start: (take) => {
        this.#take = take;
      },
      end: (userId) => leases.get(userId)?.end.abort(),
      drop: async (userId) => {
        work.get(userId)?.keys.clear();
        leases.get(userId)?.end.abort();
        leases.delete(userId);
      },
      get size() {
        return leases.size;
      },
      idle: async () => {
        while (leases.size > 0) await setImmediate();
      },
      stopTaking: () => {
        this.#take = undefined;
      },
      stop: () => {
        this.#take = undefined;
        for (const { end } of leases.values()) end.abort();
      },
    };
  }

  /** Takes the work of one person that waits by now, if there is any; resolves with whether there was when it is done. */
  async takeWork(): Promise<boolean> {
    const { work, options } = this.#data;
    const take = this.#take;
    if (take === undefined) return false;
    const now = options.now();
    for (const [userId, waiting] of work) {
      const keys = [...waiting.keys].filter(([, at]) => at <= now).map(([key]) => key);
      if (waiting.holder !== undefined || keys.length === 0) continue;
      waiting.holder = this;
      const end = new AbortController();
      this.#leases.set(userId, { end, keys });
      for (const key of keys) waiting.keys.delete(key);
      const isDone = await take({ userId, keys, signal: end.signal }).then(
        () => !end.signal.aborted,
        () => false,
      );
      // What was dropped meanwhile is nobody's.
      if (!isDone && this.#leases.get(userId)?.end === end)
        for (const key of keys) waiting.keys.set(key, now);
      this.#leases.delete(userId);
      if (waiting.holder === this) waiting.holder = undefined;
      return true;
    }
    return false;
  }
}
