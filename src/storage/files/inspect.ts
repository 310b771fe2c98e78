import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

import { errorCode } from './file-system.ts';

/** `creatable`: not there, and can be made. `refused`: this process's user may not write there. */
export type FolderState = 'fine' | 'creatable' | 'no-folder' | 'refused' | 'read-only';

export interface InspectedFolder {
  readonly path: string;
  readonly state: FolderState;
  /** The folder, or the nearest existing one above it. */
  readonly nearest: string;
  /** User id and permission bits of `nearest`. */
  readonly owner: number;
  readonly mode: number;
}

/** Whether the store can use a folder; changes nothing. */
export async function inspectFolder(folder: string): Promise<InspectedFolder> {
  const path = resolve(folder);
  const nearest = await nearestAbove(path);
  const stats = await stat(nearest);
  const about = { path, nearest, owner: stats.uid, mode: stats.mode & 0o777 };
  if (!stats.isDirectory()) return { ...about, state: 'no-folder' };
  try {
    await access(nearest, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    return { ...about, state: errorCode(error) === 'EROFS' ? 'read-only' : 'refused' };
  }
  return { ...about, state: nearest === path ? 'fine' : 'creatable' };
}

/** Where a folder is, or will be. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(await nearestAbove(resolve(folder)));
  return bavail * bsize;
}

async function nearestAbove(path: string): Promise<string> {
  const isMissing = (await stat(path).catch(() => undefined)) === undefined;
  return isMissing && dirname(path) !== path ? nearestAbove(dirname(path)) : path;
}
