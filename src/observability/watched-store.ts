import type { Clock } from '../core/time.ts';
import { NewerVersionError } from '../core/errors.ts';
import { measure } from '../core/measures.ts';
import type { LastWrite, Store } from '../core/store.ts';

/** The same store, which also tells how its newest write went. A document of a newer version is not the disk's fault. */
export function watchStore(
  store: Store,
  clock: Clock,
): { readonly store: Store; readonly lastWrite: () => LastWrite | undefined } {
  let last: LastWrite | undefined;

  async function watched<T>(write: Promise<T>): Promise<T> {
    try {
      const result = await write;
      last = { at: clock(), isOk: true };
      return result;
    } catch (error) {
      if (!(error instanceof NewerVersionError)) {
        last = { at: clock(), isOk: false };
        measure('storeError', { writes: 1 });
      }
      throw error;
    }
  }

  return {
    lastWrite: () => last,
    store: {
      read: (key, kind) => store.read(key, kind),
      update: (key, kind, change, options) => watched(store.update(key, kind, change, options)),
      append: (log, record) => watched(store.append(log, record)),
      scan: (log, schema, options) => store.scan(log, schema, options),
      lastSequence: (log) => store.lastSequence(log),
      logState: (log) => store.logState(log),
      rewrite: (log, schema, change) => watched(store.rewrite(log, schema, change)),
      readText: (key) => store.readText(key),
      writeText: (key, text, options) => watched(store.writeText(key, text, options)),
      list: (folder) => store.list(folder),
      folders: (folder, name) => store.folders(folder, name),
      remove: (key) => watched(store.remove(key)),
      removeAll: (prefix) => watched(store.removeAll(prefix)),
    },
  };
}
