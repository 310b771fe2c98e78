import { constants } from 'node:fs';
import { access, lstat, stat, statfs } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';

import type { Config } from '../config/config.ts';
import { StoreError, UnusableStoreError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { SetAside } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import { errorCode } from '../storage/files/file-system.ts';
import { createFileStore } from '../storage/files/store.ts';

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

/** Where a folder is, or will be. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(await nearestAbove(resolve(folder)));
  return bavail * bsize;
}

async function nearestAbove(path: string): Promise<string> {
  const isMissing = (await lstat(path).catch(() => undefined)) === undefined;
  return isMissing && dirname(path) !== path ? nearestAbove(dirname(path)) : path;
}

export function foldersOf({ storage }: Pick<Config, 'storage'>): readonly (readonly [string, string])[] {
  if (storage.databaseUrl !== undefined) return [];
  const folders = {
    DISCOCLAW_DATA_DIR: storage.dataDir,
    DISCOCLAW_WORKSPACE_DIR: storage.workspaceDir,
    DISCOCLAW_DURABLE_DATA_DIR: storage.durableDir,
    DISCOCLAW_SUMMARY_DATA_DIR: storage.summaryDir,
    DISCOCLAW_SHORTTERM_DATA_DIR: storage.shortTermDir,
  };
  return Object.entries(folders).flatMap(([variable, folder]) =>
    folder === undefined ? [] : [[variable, folder] as const],
  );
}

/** Why the bot cannot use a folder, and what to do about it [O7]; `undefined` where it can. Changes nothing. */
export async function faultOf(
  variable: string,
  folder: string,
): Promise<{ readonly text: string; readonly remedy: string } | undefined> {
  const path = resolve(folder);
  const nearest = await nearestAbove(path);
  const orElse = `, or set ${variable} to another folder`;
  // A link may lead nowhere.
  const stats = await stat(nearest).catch(() => undefined);
  if (stats?.isDirectory() !== true) {
    const text = `${path} cannot be used, since ${nearest} is not a folder`;
    return { text, remedy: `move away what is there${orElse}` };
  }
  try {
    await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const code = errorCode(error);
    const text = `${path} cannot be written by ${ownName()} (${code} at ${nearest})`;
    if (code === 'EROFS')
      return { text, remedy: `make it writable (systemd: ReadWritePaths; a container: a volume)${orElse}` };
    const making = `make it for that user (mkdir -p ${path} && chown ${ownIds()} ${path})`;
    return { text, remedy: `${nearest === path ? waysToGive(path, stats.uid) : making}${orElse}` };
  }
}

/** @throws {UnusableStoreError} that names each folder that the bot cannot use [O2]. */
async function assertFoldersUsable(config: Config): Promise<void> {
  const faults = await Promise.all(foldersOf(config).map(([variable, folder]) => faultOf(variable, folder)));
  const lines = faults.flatMap((fault) => (fault === undefined ? [] : [`${fault.text}: ${fault.remedy}`]));
  if (lines.length > 0) throw new UnusableStoreError(lines.join('\n'), '.');
}

/** Errors that do not pass by themselves. */
const refusals: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR']);

/** What only the operator can fix [O7], such as a file that an earlier start as root left. */
export function refusedByDisk(error: unknown): UnusableStoreError | undefined {
  if (error instanceof UnusableStoreError) return undefined;
  const failure = error instanceof StoreError ? error.cause : error;
  const code = errorCode(failure);
  if (!refusals.has(code)) return undefined;
  const { path } = Object(failure);
  if (typeof path !== 'string') return undefined;
  const text = `${path} cannot be used by ${ownName()} (${code}): ${waysToGive(path)}`;
  return new UnusableStoreError(text, path, { cause: error });
}

function waysToGive(path: string, owner?: number): string {
  const id = process.getuid?.();
  if (id !== undefined && owner === id) return `chmod -R u+rwX ${path}`;
  return `give it to that user (chown -R ${ownIds()} ${path})`;
}

/** As `chown` takes them. */
function ownIds(): string {
  return process.getuid === undefined ? 'USER' : `${process.getuid()}:${process.getgid?.()}`;
}

/** A container's user may have no name. */
function ownName(): string {
  const id = process.getuid?.();
  try {
    const { username } = userInfo();
    return id === undefined ? `the user ${username}` : `the user ${username} (${id})`;
  } catch {
    return `the user ${id}`;
  }
}
