import { randomUUID } from 'node:crypto';
import { copyFile, readFile, readdir } from 'node:fs/promises';
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
import { fingerprintOf } from './reading.ts';

/** A folder in the data folder that wants a snapshot, or has one [O4]. */
const snapshotName = /^\.backup-[0-9a-f]{12}$/u;
const contentsName = 'contents.json';

/** An abandoned snapshot is removed: it holds what may have been forgotten since. */
const abandonedMs = 60 * 60_000;
const copiesAtOnce = 16;

const contentsSchema = z.array(
  z.object({
    /** As the archive has it: `data/…` or `workspace/…`. */
    name: z.string(),
    /** In the snapshot's folder. */
    file: z.string(),
  }),
);

export type SnapshotContents = z.infer<typeof contentsSchema>;

interface SnapshotParts {
  readonly fileSystem: FileSystem;
  readonly disk: Pick<Disk, 'replaceFile'>;
  readonly locks: KeyLocks;
  readonly roots: RootFolders;
  readonly logger: Logger;
}

interface Copy {
  /** In the snapshot's folder. */
  readonly file: string;
  /** Of the file that was copied. */
  readonly fingerprint: string;
}

/** All files at one moment, in a folder of the data folder. */
export function createSnapshots({ fileSystem, disk, locks, roots, logger }: SnapshotParts) {
  const below = new Set(allRoots(roots));
  const inTurn = pLimit(1);

  const isLeftOut = (name: string, path: string): boolean => name.startsWith('.') || below.has(path);

  /** Copies the files that are not as they were copied `before`; by their names in an archive. */
  async function copyAll(folder: string, before: ReadonlyMap<string, Copy>) {
    const found: { readonly name: string; readonly path: string }[] = [];
    for (const root of below) {
      const top = root === roots.workspace ? 'workspace' : 'data';
      for await (const path of filesBelow(fileSystem, root, isLeftOut))
        found.push({ name: `${top}${path.slice(root.length)}`, path });
    }
    const copies = new Map<string, Copy>();
    await pLimit(copiesAtOnce).map(found, async ({ name, path }) => {
      const stats = await unlessMissing(fileSystem.lstat(path));
      if (stats === undefined) return;
      const fingerprint = fingerprintOf(stats);
      const known = before.get(name);
      const file = known?.file ?? randomUUID();
      const isCopied =
        known?.fingerprint === fingerprint ||
        (await unlessMissing(copyFile(path, join(folder, file)).then(() => true)));
      // A person may have removed it from the workspace.
      if (isCopied === true) copies.set(name, { file, fingerprint });
    });
    return copies;
  }

  async function take(folder: string): Promise<void> {
    try {
      // Most of it before anybody has to wait.
      const before = await copyAll(folder, new Map());
      const copies = await locks.runAlone('', () => copyAll(folder, before));
      const contents = Array.from(copies, ([name, { file }]) => ({ name, file }));
      const bytes = Buffer.from(JSON.stringify(contents));
      await disk.replaceFile({ key: contentsName, path: join(folder, contentsName), bytes });
    } catch (error) {
      logger.error('no copy could be made for a backup', { error });
      await fileSystem.removeTree(folder);
    }
  }

  /** Fills the folders that wait for a snapshot, and removes what is older. */
  async function serve(maxAgeMs: number): Promise<void> {
    for (const { name } of await fileSystem.readdir(roots.data)) {
      if (!snapshotName.test(name)) continue;
      const folder = join(roots.data, name);
      const { mtimeMs } = await fileSystem.lstat(folder);
      if ((await fileSystem.readdir(folder)).length === 0) await take(folder);
      else if (Date.now() - Number(mtimeMs) > maxAgeMs) await fileSystem.removeTree(folder);
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
