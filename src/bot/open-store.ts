import { access } from 'node:fs/promises';
import { resolve } from 'node:path';

import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { SetAside, Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import { createFileStore } from '../storage/files/store.ts';
import type { SharedPorts } from './bot-ports.ts';
import { assertFoldersUsable } from './folders.ts';

export interface OpenStore {
  readonly store: Store;
  /** What holds between processes; `undefined` where one process has the store alone. */
  readonly shared: SharedPorts | undefined;
  /** How many unreadable documents are kept for a person to look at. Rejects with `StoreError`. */
  readonly quarantined: () => Promise<number>;
  /** Removes what an earlier process left behind; nothing waits for it. Rejects with `StoreError`. */
  readonly removeLeftovers: () => Promise<void>;
  /** Waits for running changes; later ones reject. */
  readonly close: () => Promise<void>;
}

interface OpenOptions {
  /** `bot`: beside other bots where the store allows it. `alone`: where no bot runs. `reader`: beside whatever runs, and changes nothing. */
  readonly as: 'bot' | 'alone' | 'reader';
  /** Is told of documents that could not be read [S5]; must not throw. Default: nobody is. */
  readonly onSetAside?: (file: SetAside) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The store that the configuration names [X1]. @throws {StoreError} where it cannot be used, or somebody else is in the way. */
export async function openStore(config: Config, { as, ...options }: OpenOptions): Promise<OpenStore> {
  const { storage } = config;
  const { databaseUrl: url } = storage;
  if (url === undefined) {
    if (as !== 'reader') await assertFoldersUsable(config);
    const store = await createFileStore({ ...storage, ...options, readOnly: as === 'reader' });
    return {
      store,
      shared: undefined,
      quarantined: () => store.quarantined(),
      removeLeftovers: () => store.removeLeftovers(),
      close: () => store.close(),
    };
  }
  // Who keeps files does not load it.
  const { createPostgresStore } = await import('../storage/postgres/store.ts');
  const store = await createPostgresStore({ ...options, url, as: as === 'bot' ? 'shared' : as });
  return {
    store,
    shared: { processes: store, work: store.work },
    quarantined: () => store.quarantined(),
    removeLeftovers: () => Promise.resolve(),
    close: () => store.close(),
  };
}

/** @throws {RangeError} where there is nothing that was ever remembered. */
export async function assertMemory({ storage }: Config): Promise<void> {
  if (storage.databaseUrl !== undefined) return;
  const dataDir = resolve(storage.dataDir);
  await access(dataDir).catch(() => {
    throw new RangeError(`There is no data folder at ${dataDir}.`);
  });
}
