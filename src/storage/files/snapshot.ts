import { constants, type Dirent } from 'node:fs';
import { join } from 'node:path';

import pLimit from 'p-limit';
import { z } from 'zod';

import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { parseJson } from '../../core/text.ts';
import type { Disk } from './disk.ts';
import { readWhole, unlessMissing, withFile, writeWhole, type FileSystem } from './file-system.ts';
import { allRoots, type RootFolders } from './paths.ts';

/** A folder in the data folder that wants a snapshot, or has one [O4]. */
const snapshotName = /^\.backup-[0-9a-f]{12}$/u;
const contentsName = 'contents.json';
const failureName = 'failure.txt';

/** What nobody fetched for so long is removed: it holds what may have been forgotten since. */
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

/** The files of a snapshot. */
export type SnapshotContents = z.infer<typeof contentsSchema>;

/**
 * Copies of all files as they are at one moment, in a folder of the data folder: second names where the file system has them, which take no room and
 * keep what they are though the file be replaced. Temporary files are left out.
 */
export function createSnapshots({
  fileSystem,
  disk,
  roots,
  alone,
  logger,
}: {
  readonly fileSystem: FileSystem;
  readonly disk: Pick<Disk, 'linkOrCopy' | 'discard'>;
  readonly roots: RootFolders;
  /** Runs while nothing else changes the files. */
  readonly alone: (work: () => Promise<void>) => Promise<void>;
  readonly logger: Logger;
}) {
  const below = new Set(allRoots(roots));
  const serving = pLimit(1);

  async function* filesBelow(folder: string): AsyncGenerator<string> {
    for (const entry of (await unlessMissing(fileSystem.readdir(folder))) ?? []) {
      const path = join(folder, entry.name);
      if (isHidden(entry) || below.has(path)) continue;
      if (entry.isDirectory()) yield* filesBelow(path);
      else if (entry.isFile()) yield path;
    }
  }

  async function take(folder: string): Promise<void> {
    let contents: SnapshotContents = [];
    await alone(async () => {
      const found: { readonly root: string; readonly path: string }[] = [];
      for (const root of allRoots(roots))
        for await (const path of filesBelow(root)) found.push({ root, path });
      const copies = await pLimit(linksAtOnce).map(found, async ({ root, path }, index) => {
        const file = String(index);
        const copy = join(folder, file);
        const isThere = await unlessMissing(disk.linkOrCopy(path, copy).then(() => true));
        // A person may have removed it from the workspace.
        if (isThere === undefined) return [];
        const { size } = await fileSystem.lstat(copy);
        const top = root === roots.workspace ? 'workspace' : 'data';
        return [{ name: `${top}${path.slice(root.length)}`, file, size: Number(size) }];
      });
      contents = copies.flat();
    });
    await write(folder, contentsName, JSON.stringify(contents));
  }

  /** Under its name at once, as a whole. */
  async function write(folder: string, name: string, text: string): Promise<void> {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const staged = join(folder, `.${name}`);
    await withFile(fileSystem.open(staged, flags, 0o600), (file) =>
      writeWhole(file, name, Buffer.from(text), 0),
    );
    await fileSystem.rename(staged, join(folder, name));
  }

  /** The folders of those who want a snapshot, or have one: with when they last changed, milliseconds since the epoch, and whether they are empty. */
  async function wanted() {
    const names = (await fileSystem.readdir(roots.data)).map(({ name }) => name);
    return Promise.all(
      names
        .filter((name) => snapshotName.test(name))
        .map(async (name) => {
          const folder = join(roots.data, name);
          const { mtimeMs } = await fileSystem.lstat(folder);
          return {
            folder,
            changedAt: Number(mtimeMs),
            isEmpty: (await fileSystem.readdir(folder)).length === 0,
          };
        }),
    );
  }

  /** Serves who wants a snapshot, and removes what nobody has fetched. Never rejects. */
  async function serve(): Promise<void> {
    try {
      for (const { folder, changedAt, isEmpty } of await wanted())
        if (isEmpty) await takeOrFail(folder);
        else if (Date.now() - changedAt > abandonedMs) await disk.discard(folder, folder);
    } catch (error) {
      logger.warn('a backup could not be served', { error });
    }
  }

  /** Removes what was made before the present start, and may be half of it. */
  async function removeFormer(): Promise<void> {
    for (const { folder, isEmpty } of await wanted()) if (!isEmpty) await disk.discard(folder, folder);
  }

  async function takeOrFail(folder: string): Promise<void> {
    try {
      await take(folder);
    } catch (error) {
      logger.error('no copy could be made for a backup', { error });
      await write(folder, failureName, error instanceof Error ? error.message : String(error));
    }
  }

  return {
    /** Takes turns with `serve`, which may have found the empty folder first. */
    take: (folder: string) =>
      serving(async () => {
        if ((await fileSystem.readdir(folder)).length === 0) await take(folder);
      }),
    serve: () => serving(serve),
    removeFormer,
  };
}

/** The contents of a snapshot that is whole by now; `undefined` before. Rejects with `StoreError` where it could not be made. */
export async function readSnapshot(
  fileSystem: FileSystem,
  folder: string,
): Promise<SnapshotContents | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW;
  const read = (name: string) =>
    unlessMissing(withFile(fileSystem.open(join(folder, name), flags), readWhole));
  const failure = await read(failureName);
  if (failure !== undefined) throw new StoreError(failure.toString('utf8'), failureName);
  const bytes = await read(contentsName);
  return bytes === undefined ? undefined : contentsSchema.parse(parseJson(bytes.toString('utf8')));
}

/** Names that begin with a dot are the store's own, or a tool's: locks, temporary files. */
function isHidden({ name }: Dirent): boolean {
  return name.startsWith('.');
}
