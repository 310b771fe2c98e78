import { NewerVersionError, StoreError } from '../core/errors.ts';
import { measure } from '../core/logger.ts';
import type { LastWrite, Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import type { KeyLocks } from './key-locks.ts';
import { assertKey } from './keys.ts';

interface CallOptions {
  readonly readOnly: boolean;
  /** Makes a failure of disk or database a `StoreError`; other errors stay. */
  readonly toStoreError: (key: string, action: string, error: unknown) => unknown;
  /** Rejects where nothing may be changed. */
  readonly beforeChange: () => Promise<void> | void;
  readonly clock: Clock;
}

/** Stands around each call of a store; changes are refused to readers and after the end. */
export function createCalls({ readOnly, toStoreError, beforeChange, clock }: CallOptions) {
  const running = new Set<Promise<unknown>>();
  let isClosed = false;
  let last: LastWrite | undefined;
  let failingSince: number | undefined;

  async function run<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
    assertKey(key);
    return track(key, action, work);
  }

  async function track<T>(subject: string, action: string, work: () => Promise<T>): Promise<T> {
    const call = work();
    running.add(call);
    try {
      return await call;
    } catch (error) {
      throw toStoreError(subject, action, error);
    } finally {
      running.delete(call);
    }
  }

  async function change<T>(key: string, action: string, work: () => Promise<T>): Promise<T> {
    try {
      const result = await run(key, action, async () => {
        if (readOnly)
          throw new StoreError(`${key} was not ${action}: the store is open for reading only`, key);
        if (isClosed) throw new StoreError(`${key} was not ${action}: the store is closed`, key);
        await beforeChange();
        return work();
      });
      failingSince = undefined;
      last = { at: clock(), isOk: true };
      return result;
    } catch (error) {
      // The disk is not to blame for a newer version's document, or for what a change itself refuses.
      if (error instanceof NewerVersionError || !(error instanceof StoreError)) throw error;
      const at = clock();
      failingSince ??= at.getTime();
      last = { at, isOk: false, failingMs: at.getTime() - failingSince };
      measure('storeError', { writes: 1 });
      throw error;
    }
  }

  async function* scan<T>(log: string, found: AsyncIterable<T>): AsyncGenerator<T> {
    assertKey(log);
    try {
      yield* found;
    } catch (error) {
      throw toStoreError(log, 'read', error);
    }
  }

  /** Refuses changes from now on; resolves when nothing runs any more. */
  async function close(): Promise<void> {
    isClosed = true;
    while (running.size > 0) await Promise.allSettled(running);
  }

  /** The whole port, around a store that knows nothing of all this. */
  const guarded = (store: Store, locks: KeyLocks): Store => ({
    read: (key, kind) => run(key, 'read', () => store.read(key, kind)),
    update: (key, kind, make, options) => change(key, 'stored', () => store.update(key, kind, make, options)),
    append: (log, record) => change(log, 'appended to', () => store.append(log, record)),
    scan: (log, schema, options) => scan(log, store.scan(log, schema, options)),
    logState: (log) => run(log, 'read', () => store.logState(log)),
    rewrite: (log, schema, make) => change(log, 'rewritten', () => store.rewrite(log, schema, make)),
    readText: (key) => run(key, 'read', () => store.readText(key)),
    writeText: (key, text) => change(key, 'written', () => store.writeText(key, text)),
    list: (folder) => run(folder, 'listed', () => store.list(folder)),
    folders: (folder, name) => run(folder, 'listed', () => store.folders(folder, name)),
    remove: (key) => change(key, 'removed', () => locks.run(key, () => store.remove(key))),
    removeAll: (prefix) =>
      change(prefix, 'removed', () => locks.runAlone(prefix, () => store.removeAll(prefix))),
  });

  return { run, track, change, guarded, close, lastWrite: () => last };
}
