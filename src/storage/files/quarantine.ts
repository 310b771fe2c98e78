import { basename, dirname, join } from 'node:path';
import { limits } from '../../core/limits.ts';
import type { Clock } from '../../core/time.ts';
import type { Disk } from './disk.ts';
import { filesBelow, unlessMissing, type FileSystem } from './file-system.ts';
import { locate, locateQuarantine, type RootFolders } from './paths.ts';

/** What follows a key's last segment in a quarantined copy's name. */
const copyEnding = /^(?:\.bak)?\.\d{8}T\d{9}Z(?:-\d+)?$/;

export type Quarantine = ReturnType<typeof createQuarantine>;

/** Keeps unreadable documents for a person to look at [S4], under their key with a time stamp. */
export function createQuarantine({
  fileSystem,
  disk,
  roots,
  clock,
}: {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly roots: RootFolders;
  readonly clock: Clock;
}) {
  /** Copies the file; resolves with the copy's path, on disk by then. */
  async function keep(key: string, path: string): Promise<string> {
    const { path: target } = locateQuarantine(roots, key);
    const stamp = stampOf(clock());
    await disk.ensureFolder(dirname(target));
    for (let attempt = 1; ; attempt += 1) {
      const copy = attempt === 1 ? `${target}.${stamp}` : `${target}.${stamp}-${attempt}`;
      if ((await unlessMissing(fileSystem.lstat(copy))) !== undefined) continue;
      await disk.copyFile(path, copy);
      await disk.syncFolder(dirname(target));
      await dropOldest();
      return copy;
    }
  }

  async function dropOldest(): Promise<void> {
    const oldest = stampOf(new Date(clock().getTime() - limits.quarantine.days * 24 * 60 * 60 * 1000));
    const copies = (await copiesBelow(fileSystem, locateQuarantine(roots, '').path)).toSorted((a, b) =>
      a.stamp < b.stamp ? 1 : -1,
    );
    let bytes = 0;
    for (const [index, { path, size, stamp }] of copies.entries()) {
      bytes += size;
      const isKept = index < limits.quarantine.files && bytes <= limits.quarantine.bytes && stamp >= oldest;
      // The newest is why a person looks.
      if (!isKept && index > 0) await disk.removeFile(path);
    }
  }

  /** Erases a key's copies in quarantine and temporary files [S7]; may be called again after a rejection. */
  async function eraseCopies(key: string): Promise<void> {
    const copies = locateQuarantine(roots, key);
    for (const location of [locate(roots, key), copies]) {
      await disk.findFormerLeftovers(location);
      await disk.eraseLeftovers(location.path);
    }
    for (const copy of await copiesOf(copies.path)) await disk.removeFile(copy);
  }

  async function copiesOf(target: string): Promise<readonly string[]> {
    const folder = dirname(target);
    const entries = (await unlessMissing(fileSystem.readdir(folder))) ?? [];
    const names = entries.map(({ name }) => name).filter((name) => name.startsWith(basename(target)));
    const copies = names.filter((name) => copyEnding.test(name.slice(basename(target).length)));
    return copies.map((name) => join(folder, name));
  }

  const count = async () => (await copiesBelow(fileSystem, locateQuarantine(roots, '').path)).length;

  return { keep, eraseCopies, count };
}

interface KeptCopy {
  readonly path: string;
  readonly size: number;
  /** From its name; the oldest where that has none. */
  readonly stamp: string;
}

async function copiesBelow(fileSystem: FileSystem, folder: string): Promise<readonly KeptCopy[]> {
  const found: KeptCopy[] = [];
  for await (const path of filesBelow(fileSystem, folder)) {
    const stats = await unlessMissing(fileSystem.lstat(path));
    const [, stamp = ''] = /\.(\d{8}T\d{9}Z)(?:-\d+)?$/u.exec(path) ?? [];
    if (stats !== undefined) found.push({ path, size: Number(stats.size), stamp });
  }
  return found;
}

/** Such as `20260115T120000000Z`: the later, the greater. */
function stampOf(date: Date): string {
  return date.toISOString().replaceAll(/[-:.]/g, '');
}
