import { join } from 'node:path';
import { isInWorkspace, quarantineSegment, workspaceSegment } from './keys.ts';

/** The folders on disk that keys lead into; a layer's folder lies in the data folder unless it was moved [§11]. */
export interface RootFolders {
  readonly data: string;
  readonly workspace: string;
  readonly durable?: string | undefined;
  readonly summary?: string | undefined;
  readonly shortTerm?: string | undefined;
}

/** A path on disk and the root folder it must stay in. */
export interface Location {
  readonly root: string;
  readonly path: string;
}

/** Where a key's file lies. The key must have been checked. */
export function locate(roots: RootFolders, key: string): Location {
  if (isInWorkspace(key)) {
    return { root: roots.workspace, path: join(roots.workspace, key.slice(workspaceSegment.length)) };
  }
  const root = movedRoot(roots, key) ?? roots.data;
  return { root, path: join(root, key) };
}

/** Every folder on disk that can hold files below `folder`. */
export function locateFolders(roots: RootFolders, folder: string): readonly Location[] {
  if (isInWorkspace(folder)) return [locate(roots, folder)];
  return dataRoots(roots).map((root) => ({ root, path: join(root, folder) }));
}

/** The quarantined copies of what lay below `folder`. */
export function locateQuarantine(roots: RootFolders, folder: string): Location {
  return { root: roots.data, path: join(roots.data, quarantineSegment, folder) };
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
