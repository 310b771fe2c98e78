import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { SetAside } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import { createFileStore } from '../storage/files/store.ts';
import { assertFoldersUsable } from './folders.ts';

interface OpenOptions {
  /** `bot`: beside other bots if the store allows it. `alone`: where no bot runs. `reader`: read-only, at any time. */
  readonly as: 'bot' | 'alone' | 'reader';
  readonly clock: Clock;
  readonly logger: Logger;
  /** The folder may be another bot's by now [S8]: nothing more can be stored. */
  readonly onLost?: (error: Error) => void;
  /** Ends a wait for the folder. */
  readonly signal?: AbortSignal | undefined;
}

/** The configured store [X1]. @throws {StoreError} where it cannot be used, or is in use. */
export async function openStore(config: Config, { as, ...options }: OpenOptions) {
  const { storage } = config;
  const { databaseUrl: url } = storage;
  const early: SetAside[] = [];
  let listener = (file: SetAside): void => void early.push(file);
  const onSetAside = (file: SetAside): void => listener(file);
  /** Has a listener called for each document that could not be read [S5], also until now; it must not throw. */
  function tellSetAside(next: typeof listener): void {
    listener = next;
    for (const file of early) next(file);
  }
  if (url === undefined) {
    if (as !== 'reader') await assertFoldersUsable(config);
    const store = await createFileStore({ ...storage, ...options, onSetAside, readOnly: as === 'reader' });
    return { store, shared: undefined, tellSetAside, removeLeftovers: store.removeLeftovers };
  }
  // Loaded only where it is used.
  const { createPostgresStore } = await import('../storage/postgres/store.ts');
  const store = await createPostgresStore({ ...options, onSetAside, url, as: as === 'bot' ? 'shared' : as });
  return { store, shared: { processes: store, work: store.work }, tellSetAside };
}
