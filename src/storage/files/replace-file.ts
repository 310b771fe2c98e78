import type { BigIntStats } from 'node:fs';
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { errorCode, unlessMissing } from './file-error.ts';
import type { AtomicWriteOptions, FileSystem } from './file-system.ts';
import { withFile } from './file-system.ts';
import type { Folders } from './folders.ts';
import { backupOf } from './keys.ts';
import { discard, temporaryName } from './temporary-files.ts';

export interface Replacement {
  readonly key: string;
  readonly path: string;
  readonly bytes: Buffer;
  /** Whether the old content is kept as `.bak`. */
  readonly keepBackup: boolean;
  /** Asked with the present file just before it is replaced; `false` leaves everything as it is. */
  readonly isExpected?: (present: BigIntStats | undefined) => boolean;
}

/**
 * Replaces a file so that a reader, or a start after `kill -9` or power loss, finds all of the old content or all of
 * the new [S2]. Resolves with the new file's stats, or `undefined` where it was not as expected. When it rejects, the old file
 * stands.
 *
 * write-file-atomic takes a short write for a success and puts the half file in place of the good one. So it is given a
 * name of our own, and only a file of the right size takes the real name.
 */
export async function replaceFile(
  fileSystem: FileSystem,
  folders: Folders,
  { key, path, bytes, keepBackup, isExpected }: Replacement,
): Promise<BigIntStats | undefined> {
  await folders.ensure(dirname(path));
  const staged = temporaryName(path);
  try {
    const owner = ownerOf(await unlessMissing(fileSystem.lstat(path)));
    await fileSystem.writeFileAtomic(staged, bytes, { mode: 0o600, ...(owner && { owner }) });
    const written = await fileSystem.lstat(staged);
    if (written.size !== BigInt(bytes.length)) {
      throw new StoreError(
        `${key} could not be written: only ${written.size} of ${bytes.length} bytes fitted`,
        key,
      );
    }
    const present = await unlessMissing(fileSystem.lstat(path));
    if (isExpected !== undefined && !isExpected(present)) {
      await discard(fileSystem, staged);
      return undefined;
    }
    if (present !== undefined && keepBackup) await keepCopy(fileSystem, path, backupOf(path));
    await swap(fileSystem, folders, { staged, path, isNew: present === undefined });
    return written;
  } catch (error) {
    await discard(fileSystem, staged);
    throw error;
  }
}

/** Gives the staged file its name. When the folder cannot be synced after that, the old file is put back. */
async function swap(
  fileSystem: FileSystem,
  folders: Folders,
  { staged, path, isNew }: { readonly staged: string; readonly path: string; readonly isNew: boolean },
): Promise<void> {
  const old = temporaryName(path);
  try {
    if (!isNew) await copyFile(fileSystem, path, old);
    await fileSystem.rename(staged, path);
    try {
      await folders.sync(dirname(path));
    } catch (error) {
      await (isNew ? fileSystem.unlink(path) : fileSystem.rename(old, path));
      throw error;
    }
  } finally {
    if (!isNew) await discard(fileSystem, old);
  }
}

/** Makes `to` a copy of `from` in one step: `to` is always whole, the one before or the new one. */
async function keepCopy(fileSystem: FileSystem, from: string, to: string): Promise<void> {
  const copy = temporaryName(from);
  try {
    await copyFile(fileSystem, from, copy);
    await fileSystem.rename(copy, to);
  } finally {
    // Renaming does nothing where both names are the same file already.
    await discard(fileSystem, copy);
  }
}

/** A second name for a file's content, or a synced copy where the file system has no hard links. Private either way [S6]. */
export async function copyFile(fileSystem: FileSystem, from: string, to: string): Promise<void> {
  try {
    await fileSystem.link(from, to);
  } catch (error) {
    if (!withoutLinks.has(errorCode(error) ?? '')) throw error;
    await fileSystem.copyFile(from, to);
    await withFile(fileSystem.open(to, constants.O_RDONLY), (copy) => copy.sync());
  }
  await fileSystem.chmod(to, 0o600);
}

const withoutLinks: ReadonlySet<string> = new Set([
  'EPERM',
  'EXDEV',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
]);

/** The owner of a file that a person made stays its owner. */
function ownerOf(stats: BigIntStats | undefined): AtomicWriteOptions['owner'] {
  return stats === undefined ? undefined : { uid: Number(stats.uid), gid: Number(stats.gid) };
}
