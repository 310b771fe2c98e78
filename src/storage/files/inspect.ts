import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import { unlessMissing } from './file-system.ts';

/** `creatable`: it is not there, and can be made. `refused`: the user of this process may not write there. */
export type FolderState = 'fine' | 'creatable' | 'no-folder' | 'refused';

/** How a folder stands that the store is to use; nothing is changed. `path` comes back absolute. */
export async function inspectFolder(folder: string) {
  const path = resolve(folder);
  const stats = await unlessMissing(stat(path)).catch(() => undefined);
  const nearest = stats === undefined ? await nearestAbove(path) : path;
  const isFolder = (stats ?? (await stat(nearest))).isDirectory();
  const isWritable = await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  const state: FolderState = !isFolder
    ? 'no-folder'
    : !isWritable
      ? 'refused'
      : stats === undefined
        ? 'creatable'
        : 'fine';
  return { path, state, mode: stats === undefined ? undefined : stats.mode & 0o777 };
}

/** Bytes that are free where a folder is, or will be. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(await nearestAbove(resolve(folder)));
  return bavail * bsize;
}

/** The path itself or what lies above it, whichever is there. */
async function nearestAbove(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : nearestAbove(dirname(path));
}
