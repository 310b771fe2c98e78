import { randomBytes } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { lruCache } from '../../core/limits.ts';
import { unlessMissing, type FileSystem } from './file-system.ts';
import { backupEnding, isInWorkspace, quarantineSegment, workspaceSegment } from '../keys.ts';

export function backupOf(path: string): string {
  return path + backupEnding;
}

/** Marks all temporary names of one process, to tell them from an earlier one's. */
export function newMark(): string {
  return randomBytes(3).toString('hex');
}

/** A unique name beside `path`. It begins with a dot: no key leads to it and no listing shows it. */
export function temporaryName(path: string, mark: string): string {
  return join(dirname(path), `.${basename(path)}.${mark}${newMark()}.tmp`);
}

/** The path for which another process's temporary name stood; `undefined` for any other name. */
export function originOf(folder: string, name: string, ownMark: string): string | undefined {
  const [, origin, mark] = /^\.(.+)\.([0-9a-f]{6})[0-9a-f]{6}\.tmp$/u.exec(name) ?? [];
  return origin === undefined || mark === ownMark ? undefined : join(folder, origin);
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

/** `link`: a folder is a symbolic link, through which a key would leave its root folder. */
export type Way = 'straight' | 'missing' | 'link';

const knownFolders = 10_000;

export type Ways = ReturnType<typeof createWays>;

/** Looks for links once a folder. The caller opens the file without following links, or replaces it by a rename. */
export function createWays({ lstat }: Pick<FileSystem, 'lstat'>) {
  const straight = lruCache<string, true>(knownFolders);

  async function to(root: string, folder: string): Promise<Way> {
    if (folder === root || straight.has(folder)) return 'straight';
    const above = await to(root, dirname(folder));
    if (above !== 'straight') return above;
    const stats = await unlessMissing(lstat(folder));
    if (stats === undefined) return 'missing';
    if (stats.isSymbolicLink()) return 'link';
    straight.set(folder, true);
    return 'straight';
  }

  return {
    to,
    /** Rejects with `StoreError` where a key's path leads through a link. */
    async assertNoLinks(key: string, { root, path }: Location): Promise<void> {
      if (path !== root && (await to(root, dirname(path))) === 'link')
        throw new StoreError(`${key} leads through a symbolic link, which the store does not follow`, key);
    },
    forget: (): void => straight.clear(),
  };
}
