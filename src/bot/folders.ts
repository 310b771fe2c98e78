import { userInfo } from 'node:os';
import { constants } from 'node:fs';
import { access, lstat, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import type { Config } from '../config/config.ts';
import { StoreError, UnusableStoreError } from '../core/errors.ts';
import { errorCode } from '../storage/files/file-system.ts';

/**
 * Whether the store can use a folder; changes nothing. `creatable`: not there, and can be made. `refused`: this process's
 * user may not write there. Owner and mode are those of `nearest`, the folder or what exists above it.
 */
export async function inspectFolder(folder: string) {
  const path = resolve(folder);
  const nearest = await nearestAbove(path);
  // A link may lead nowhere.
  const stats = await stat(nearest).catch(() => lstat(nearest));
  const about = { path, nearest, owner: stats.uid, mode: stats.mode & 0o777 };
  if (!stats.isDirectory()) return { ...about, state: 'no-folder' as const };
  try {
    await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return { ...about, state: errorCode(error) === 'EROFS' ? ('read-only' as const) : ('refused' as const) };
  }
  return { ...about, state: nearest === path ? ('fine' as const) : ('creatable' as const) };
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

/** Why the bot cannot use a folder, and what to do about it [O7]; `undefined` where it can. */
export function faultOf(
  variable: string,
  { path, state, nearest, owner, mode }: Awaited<ReturnType<typeof inspectFolder>>,
): { readonly text: string; readonly remedy: string } | undefined {
  if (state === 'fine' || state === 'creatable') return undefined;
  const elsewhere = `set ${variable} to another folder`;
  const isThere = nearest === path;
  if (state === 'no-folder')
    return {
      text: isThere ? `${path} is not a folder` : `${path} cannot be made, since ${nearest} is not a folder`,
      remedy: `move away what is there, or ${elsewhere}`,
    };
  const cannot = `${path} cannot be written by ${ownName()}${isThere ? ': it' : `, since ${nearest}`}`;
  if (state === 'read-only')
    return {
      text: `${cannot} lies on a read-only file system`,
      remedy: `let the bot write there (systemd: ReadWritePaths; a container: a volume), or ${elsewhere}`,
    };
  const making = `make it for that user (mkdir -p ${path} && chown ${ownIds()} ${path})`;
  return {
    text: `${cannot} belongs to ${owner === 0 ? 'root' : `the user ${owner}`} with mode ${mode.toString(8)}`,
    remedy: `${isThere ? waysToGive(path, owner) : making}, or ${elsewhere}`,
  };
}

/** @throws {UnusableStoreError} that names each folder that the bot cannot use [O2]. */
export async function assertFoldersUsable(config: Config): Promise<void> {
  const faults = await Promise.all(
    foldersOf(config).map(async ([variable, folder]) => faultOf(variable, await inspectFolder(folder))),
  );
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
