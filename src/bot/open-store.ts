import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { LastWrite, SetAside, Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import { createFileStore } from '../storage/files/store.ts';
import type { SharedPorts } from './bot-ports.ts';
import { assertFoldersUsable } from './folders.ts';

export interface OpenStore {
  readonly store: Store;
  /** `undefined` where one process has the store alone. */
  readonly shared: SharedPorts | undefined;
  /** Counts documents in quarantine. Rejects with `StoreError`. */
  readonly quarantined: () => Promise<number>;
  readonly lastWrite: () => LastWrite | undefined;
  /** Removes files that an earlier process left behind. Rejects with `StoreError`. */
  readonly removeLeftovers: () => Promise<void>;
  /** Waits for running changes; later ones reject. */
  readonly close: () => Promise<void>;
}

interface OpenOptions {
  /** `bot`: beside other bots if the store allows it. `alone`: where no bot runs. `reader`: read-only, at any time. */
  readonly as: 'bot' | 'alone' | 'reader';
  /** Called for documents that could not be read [S5]; must not throw. */
  readonly onSetAside?: (file: SetAside) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The configured store [X1]. @throws {StoreError} where it cannot be used, or is in use. */
export async function openStore(config: Config, { as, ...options }: OpenOptions): Promise<OpenStore> {
  const { storage } = config;
  const { databaseUrl: url } = storage;
  if (url === undefined) {
    if (as !== 'reader') await assertFoldersUsable(config);
    const store = await createFileStore({ ...storage, ...options, readOnly: as === 'reader' });
    const { quarantined, lastWrite, removeLeftovers, close } = store;
    return { store, shared: undefined, quarantined, lastWrite, removeLeftovers, close };
  }
  // Loaded only where it is used.
  const { createPostgresStore } = await import('../storage/postgres/store.ts');
  const store = await createPostgresStore({ ...options, url, as: as === 'bot' ? 'shared' : as });
  const { work, quarantined, lastWrite, close } = store;
  return {
    store,
    shared: { processes: store, work },
    quarantined,
    lastWrite,
    removeLeftovers: nothing,
    close,
  };
}

const nothing = () => Promise.resolve();
