import { randomBytes } from 'node:crypto';
import { basename, dirname, join, resolve } from 'node:path';
import { StoreError } from '../../core/errors.ts';
import { growingCache } from '../../core/limits.ts';
import { unlessMissing, type FileSystem } from './file-system.ts';
import { backupEnding, isInWorkspace, quarantineSegment, workspaceSegment } from '../keys.ts';

/** Where the last good copy of a file is kept. */
export function backupOf(path: string): string {
  return path + backupEnding;
}

/** What stands in all temporary names of one process, which those of an earlier one are told from by it. */
export function newMark(): string {
  return randomBytes(3).toString('hex');
}

/** A name beside `path` that nobody else uses. It begins with a dot: no key leads to it and no listing shows it. */
export function temporaryName(path: string, mark: string): string {
  return join(dirname(path), `.${basename(path)}.${mark}${newMark()}.tmp`);
}

/** The path that a temporary name of another process stood in for; `undefined` for any other name. */
export function originOf(folder: string, name: string, ownMark: string): string | undefined {
  const [, origin, mark] = /^\.(.+)\.([0-9a-f]{6})[0-9a-f]{6}\.tmp$/u.exec(name) ?? [];
  return origin === undefined || mark === ownMark ? undefined : join(folder, origin);
}

/** The folders on disk that keys lead into; a layer's folder lies in the data folder unless it was moved [I2]. */
export interface RootFolders {
  readonly data: string;
  readonly workspace: string;
  readonly durable?: string | undefined;
  readonly summary?: string | undefined;
  readonly shortTerm?: string | undefined;
}

/** Where the configuration has them. */
export interface FolderOptions {
  readonly dataDir: string;
  /** The bot owner's folder: keys below `workspace/`. */
  readonly workspaceDir: string;
  /** Where a layer's files lie instead of in `dataDir`, under the same names. */
  readonly durableDir?: string | undefined;
  readonly summaryDir?: string | undefined;
  readonly shortTermDir?: string | undefined;
}

/** The folders as they are named. */
export function rootsIn(options: FolderOptions): RootFolders {
  const { dataDir, workspaceDir, durableDir, summaryDir, shortTermDir } = options;
  return {
    data: resolve(dataDir),
    workspace: resolve(workspaceDir),
    durable: durableDir && resolve(durableDir),
    summary: summaryDir && resolve(summaryDir),
    shortTerm: shortTermDir && resolve(shortTermDir),
  };
}

/** A path on disk and the root folder it must stay in. */
export interface Location {
  readonly root: string;
  readonly path: string;
}

/** Where a key's file lies. The key must have been checked. */
export function locate(roots: RootFolders, key: string): Location {
  if (isInWorkspace(key)) {
    return { root: roots.workspace, path: roots.workspace + key.slice(workspaceSegment.length) };
  }
  const root = movedRoot(roots, key) ?? roots.data;
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

/** All root folders, each once. */
export function allRoots(roots: RootFolders): readonly string[] {
  return [...new Set([...dataRoots(roots), roots.workspace])];
}

function dataRoots({ data, durable, summary, shortTerm }: RootFolders): readonly string[] {
  return [...new Set([data, durable ?? data, summary ?? data, shortTerm ?? data])];
}

function movedRoot(roots: RootFolders, key: string): string | undefined {
  if (/^users\/[^/]+\/durable\.json$/.test(key)) return roots.durable;
  if (/^sessions\/[^/]+\/[^/]+\/state\.json$/.test(key)) return roots.summary;
  if (/^users\/[^/]+\/short-term\//.test(key)) return roots.shortTerm;
  return undefined;
}

/** Where the folders on a path lead; `link`: one of them is a symbolic link, through which a key would leave its root folder. */
export type Way = 'straight' | 'missing' | 'link';

const knownFolders = 10_000;

export type Ways = ReturnType<typeof createWays>;

/** Looks for links once a folder. The file itself is left to the caller, who opens it without following links or replaces it by a rename. */
export function createWays({ lstat }: Pick<FileSystem, 'lstat'>) {
  const straight = growingCache<string, true>(knownFolders);

  function isKnownStraight(root: string, folder: string): boolean {
    return folder === root || straight.has(folder);
  }

  async function to(root: string, folder: string): Promise<Way> {
    if (isKnownStraight(root, folder)) return 'straight';
    const above = await to(root, dirname(folder));
    if (above !== 'straight') return above;
    const stats = await unlessMissing(lstat(folder));
    if (stats === undefined) return 'missing';
    if (stats.isSymbolicLink()) return 'link';
    straight.set(folder, true);
    return 'straight';
  }

  async function assertNoLink(key: string, root: string, folder: string): Promise<void> {
    if ((await to(root, folder)) === 'link')
      throw new StoreError(`${key} leads through a symbolic link, which the store does not follow`, key);
  }

  return {
    to,
    /** At once where all folders on the way are known. Rejects with `StoreError` where a key's path leads through a link. */
    assertNoLinks(key: string, { root, path }: Location): Promise<void> | undefined {
      const isKnown = path === root || isKnownStraight(root, dirname(path));
      return isKnown ? undefined : assertNoLink(key, root, dirname(path));
    },
    forget: (): void => straight.clear(),
  };
}
