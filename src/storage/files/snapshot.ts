import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

import pLimit from 'p-limit';
import { z } from 'zod';

import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { parseJson } from '../../core/text.ts';
import type { KeyLocks } from '../key-locks.ts';
import type { Disk } from './disk.ts';
import { filesBelow, unlessMissing, type FileSystem } from './file-system.ts';
import { allRoots, type RootFolders } from './paths.ts';

/** A folder in the data folder that wants a snapshot, or has one [O4]. */
const snapshotName = /^\.backup-[0-9a-f]{12}$/u;
const contentsName = 'contents.json';

/** An abandoned snapshot is removed: it holds what may have been forgotten since. */
const abandonedMs = 60 * 60_000;
const linksAtOnce = 16;

const contentsSchema = z.array(
  z.object({
    /** As the archive has it: `data/…` or `workspace/…`. */
    name: z.string(),
    /** In the snapshot's folder. */
    file: z.string(),
    /** Bytes at the moment of the snapshot: a log grows on. */
    size: z.number(),
  }),
);

export type SnapshotContents = z.infer<typeof contentsSchema>;

interface SnapshotParts {
  readonly fileSystem: FileSystem;
  readonly disk: Pick<Disk, 'linkOrCopy' | 'replaceFile' | 'discard'>;
  readonly locks: KeyLocks;
  readonly roots: RootFolders;
  readonly logger: Logger;
}

/** All files at one moment, in a folder of the data folder; hard links take no room and outlast replacements. */
export function createSnapshots({ fileSystem, disk, locks, roots, logger }: SnapshotParts) {
  const below = new Set(allRoots(roots));
  const inTurn = pLimit(1);

  const isLeftOut = (name: string, path: string): boolean => name.startsWith('.') || below.has(path);

  /** Only while nothing else changes the files. */
  async function linkAll(folder: string): Promise<SnapshotContents> {
    const found: { readonly root: string; readonly path: string }[] = [];
    for (const root of below)
      for await (const path of filesBelow(fileSystem, root, isLeftOut)) found.push({ root, path });
    const linked = await pLimit(linksAtOnce).map(found, async ({ root, path }, index) => {
      const file = String(index);
      const copy = join(folder, file);
      const isThere = await unlessMissing(disk.linkOrCopy(path, copy).then(() => true));
      // A person may have removed it from the workspace.
      if (isThere === undefined) return [];
      const { size } = await fileSystem.lstat(copy);
      const top = root === roots.workspace ? 'workspace' : 'data';
      return [{ name: `${top}${path.slice(root.length)}`, file, size: Number(size) }];
    });
    return linked.flat();
  }

  async function take(folder: string): Promise<void> {
    try {
      const contents = await locks.runAlone('', () => linkAll(folder));
      const bytes = Buffer.from(JSON.stringify(contents));
      await disk.replaceFile({ key: contentsName, path: join(folder, contentsName), bytes });
    } catch (error) {
      logger.error('no copy could be made for a backup', { error });
      await disk.discard(folder, folder);
    }
  }

  /** Fills the folders that wait for a snapshot, and removes what is older. */
  async function serve(maxAgeMs: number): Promise<void> {
    for (const { name } of await fileSystem.readdir(roots.data)) {
      if (!snapshotName.test(name)) continue;
      const folder = join(roots.data, name);
      const { mtimeMs } = await fileSystem.lstat(folder);
      if ((await fileSystem.readdir(folder)).length === 0) await take(folder);
      else if (Date.now() - Number(mtimeMs) > maxAgeMs) await disk.discard(folder, folder);
    }
  }

  return {
    serve: () => inTurn(() => serve(abandonedMs)),
    /** At a start: what was made before may be half of one. */
    serveFirst: () => inTurn(() => serve(0)),
  };
}

/** `undefined` until the snapshot is whole. Rejects with `StoreError` where it could not be made. */
export async function readSnapshot(folder: string): Promise<SnapshotContents | undefined> {
  const names = await unlessMissing(readdir(folder));
  if (names === undefined) throw new StoreError('The bot could make no copy: its log says why', contentsName);
  if (!names.includes(contentsName)) return undefined;
  return contentsSchema.parse(parseJson(await readFile(join(folder, contentsName), 'utf8')));
}
