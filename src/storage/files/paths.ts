import { basename, dirname, join, resolve } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { unlessMissing, type FileSystem } from './file-system.ts';
import { backupEnding, isInWorkspace, quarantineSegment, workspaceSegment } from '../keys.ts';

export function backupOf(path: string): string {
  return path + backupEnding;
}

/** Where a file is written before it takes its place. It begins with a dot: no key leads to it, no listing shows it. */
export function nextOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.next`);
}

/** Whether such a write, or write-file-atomic on its way there, left a file of this name. */
export function isStray(name: string): boolean {
  return /^\..+\.next(?:\.\d+)?$/u.test(name);
}

export interface FolderOptions {
  readonly dataDir: string;
  /** The bot owner's folder: keys below `workspace/`. */
  readonly workspaceDir: string;
  /** Where a layer's files lie instead of in `dataDir`, under the same names [I2]. */
  readonly durableDir?: string | undefined;
  readonly summaryDir?: string | undefined;
  readonly shortTermDir?: string | undefined;
}

/** The folders on disk that keys lead into. */
export interface RootFolders {
  readonly data: string;
  readonly workspace: string;
  /** Folders of layers outside the data folder, and which keys they hold. */
  readonly moved: readonly { readonly root: string; readonly keys: RegExp }[];
}

export function rootsIn(options: FolderOptions): RootFolders {
  const layers = [
    { folder: options.durableDir, keys: /^users\/[^/]+\/durable\.json$/ },
    { folder: options.summaryDir, keys: /^sessions\/[^/]+\/[^/]+\/state\.json$/ },
    { folder: options.shortTermDir, keys: /^users\/[^/]+\/short-term\// },
  ];
  return {
    data: resolve(options.dataDir),
    workspace: resolve(options.workspaceDir),
    moved: layers.flatMap(({ folder, keys }) => (folder ? [{ root: resolve(folder), keys }] : [])),
  };
}

/** A path on disk and the root folder it must stay in. */
export interface Location {
  readonly root: string;
  readonly path: string;
}

/** The key must have been checked. */
export function locate(roots: RootFolders, key: string): Location {
  if (isInWorkspace(key)) {
    return { root: roots.workspace, path: roots.workspace + key.slice(workspaceSegment.length) };
  }
  const root = roots.moved.find(({ keys }) => keys.test(key))?.root ?? roots.data;
  return { root, path: `${root}/${key}` };
}

/** Every folder on disk that can hold files below `folder`. */
export function locateFolders(roots: RootFolders, folder: string): readonly Location[] {
  if (isInWorkspace(folder)) return [locate(roots, folder)];
  return dataRoots(roots).map((root) => ({ root, path: `${root}/${folder}` }));
}

/** The quarantined copies of what lay below `folder`. */
export function locateQuarantine(roots: RootFolders, folder: string): Location {
  return { root: roots.data, path: `${roots.data}/${quarantineSegment}/${folder}` };
}

export function allRoots(roots: RootFolders): readonly string[] {
  return [...new Set([...dataRoots(roots), roots.workspace])];
}

function dataRoots({ data, moved }: RootFolders): readonly string[] {
  return [...new Set([data, ...moved.map(({ root }) => root)])];
}

/**
 * Whether a folder below its root is there, and no symbolic link on the way, through which a key would leave the root.
 * The caller opens the file without following links, or replaces it by a rename.
 */
export async function wayTo(
  fileSystem: FileSystem,
  root: string,
  folder: string,
): Promise<'straight' | 'missing' | 'link'> {
  if (folder === root) return 'straight';
  const above = await wayTo(fileSystem, root, dirname(folder));
  if (above !== 'straight') return above;
  const stats = await unlessMissing(fileSystem.lstat(folder));
  if (stats === undefined) return 'missing';
  return stats.isSymbolicLink() ? 'link' : 'straight';
}

/** Rejects with `StoreError` where a key's path leads through a link. */
export async function assertNoLinks(
  fileSystem: FileSystem,
  key: string,
  { root, path }: Location,
): Promise<void> {
  if (path !== root && (await wayTo(fileSystem, root, dirname(path))) === 'link')
    throw new StoreError(`${key} leads through a symbolic link, which the store does not follow`, key);
}
