import { mkdtemp, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDisk } from '../../../src/storage/files/disk.ts';
import { createObservedFileSystem, diskError, type Fate } from './observed-file-system.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'discoclaw-folders-'));
});
afterEach(() => rm(root, { recursive: true }));

function createRecorded() {
  const disk: { fate: Fate; synced: string[] } = { fate: 'works', synced: [] };
  const fileSystem = createObservedFileSystem(({ name, path }) => {
    if (name !== 'sync') return 'works';
    disk.synced.push(path);
    return disk.fate;
  });
  return { disk, folders: createDisk(fileSystem) };
}

describe('ensureFolder', () => {
  it('makes a folder with its parents, private, and syncs every folder that got a new name', async () => {
    const { disk, folders } = createRecorded();
    await folders.ensureFolder(join(root, 'a', 'b', 'c'));
    expect(disk.synced.toSorted()).toEqual([root, join(root, 'a'), join(root, 'a', 'b')]);
    expect((await stat(join(root, 'a', 'b'))).mode & 0o777).toBe(0o700);
    await folders.ensureFolder(join(root, 'a', 'b', 'c'));
    expect(disk.synced).toHaveLength(3);
  });

  it('makes up for a sync that failed', async () => {
    const { disk, folders } = createRecorded();
    disk.fate = diskError('EIO');
    await expect(folders.ensureFolder(join(root, 'a'))).rejects.toThrow('EIO');
    [disk.fate, disk.synced] = ['works', []];
    await folders.ensureFolder(join(root, 'a'));
    expect(disk.synced).toEqual([root]);
  });

  it('does not wait for ever for a folder that was removed before it was synced', async () => {
    const { disk, folders } = createRecorded();
    disk.fate = diskError('EIO');
    await expect(folders.ensureFolder(join(root, 'a', 'b'))).rejects.toThrow('EIO');
    disk.fate = 'works';
    await rmdir(join(root, 'a', 'b'));
    await rmdir(join(root, 'a'));
    await expect(folders.ensureFolder(join(root, 'c'))).resolves.toBeUndefined();
  });

  it('is content where the file system knows no sync of folders', async () => {
    const { disk, folders } = createRecorded();
    disk.fate = diskError('EINVAL');
    await expect(folders.ensureFolder(join(root, 'a'))).resolves.toBeUndefined();
  });
});

describe('what a folder holds', () => {
  it('is read again only when a name came or went [S5]', async () => {
    let reads = 0;
    const disk = createDisk(
      createObservedFileSystem(({ name }) => {
        reads += name === 'readdir' ? 1 : 0;
        return 'works';
      }),
    );
    const names = async (): Promise<readonly string[]> => {
      disk.lookAgain();
      return (await disk.entriesOf(root)).map(({ name }) => name).toSorted();
    };
    await writeFile(join(root, 'a.md'), 'tea');
    await utimes(root, 1, Date.now() / 1000 - 60);
    expect(await names()).toEqual(['a.md']);
    await writeFile(join(root, 'a.md'), 'coffee');
    expect(await names()).toEqual(['a.md']);
    expect(reads).toBe(1);
    await writeFile(join(root, 'b.md'), 'tea');
    expect(await names()).toEqual(['a.md', 'b.md']);
    expect(await names()).toEqual(['a.md', 'b.md']);
    await rm(join(root, 'a.md'));
    expect(await names()).toEqual(['b.md']);
  });
});
