import { mkdtemp, readFile, rm, rmdir, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDisk } from '../../../src/storage/files/disk.ts';
import { newMark, temporaryName } from '../../../src/storage/files/paths.ts';
import { nodeFileSystem } from '../../../src/storage/files/file-system.ts';
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

describe('removeFile', () => {
  it('gives a file its name back, whatever else is written meanwhile', async () => {
    const path = join(root, 'a.md');
    let isBroken = false;
    const fileSystem = createObservedFileSystem(({ name }) =>
      isBroken && name === 'sync' ? diskError('EIO') : 'works',
    );
    const disk = createDisk({
      ...fileSystem,
      async rename(from, to) {
        if (to === path) {
          isBroken = false;
          await disk.replaceFile({ key: 'b', path: join(root, 'b.md'), bytes: Buffer.from('cake') });
        }
        return fileSystem.rename(from, to);
      },
    });
    await writeFile(path, 'tea');
    isBroken = true;
    await expect(disk.removeFile(path)).rejects.toThrow('EIO');
    expect(await readFile(path, 'utf8')).toBe('tea');
    expect(await readFile(join(root, 'b.md'), 'utf8')).toBe('cake');
  });
});

describe('what is erased', () => {
  it('leaves no name that a loss of power could bring back, once all is synced [S7]', async () => {
    const path = join(root, 'a.md');
    const seen: string[] = [];
    const disk = createDisk(
      createObservedFileSystem(({ name, path: at }) => {
        if (name === 'unlink' || name === 'removeTree') seen.push('removed');
        if (name === 'sync' && at === root) seen.push('synced');
        return 'works';
      }),
    );
    await writeFile(path, 'tea');
    await disk.replaceFile({ key: 'a', path, bytes: Buffer.from('cake'), former: 'erased' });
    await disk.sync();
    expect(seen.at(-1)).toBe('synced');
    await disk.removeFile(path);
    await disk.sync();
    expect(seen.slice(-2)).toEqual(['removed', 'synced']);
    await writeFile(temporaryName(path, newMark()), 'what a killed process left');
    expect(await disk.removeFormerLeftovers([root], new AbortController().signal)).toBe(1);
    expect(seen.slice(-2)).toEqual(['removed', 'synced']);
  });
});

describe('writeFileAtomic', () => {
  it('tells the name that it writes to, in the same folder', async () => {
    const names: string[] = [];
    const path = join(root, '.a.md.tmp');
    const tmpfileCreated = (name: string): unknown => names.push(name);
    await nodeFileSystem.writeFileAtomic(path, Buffer.from('tea'), { mode: 0o600, tmpfileCreated });
    expect(names).toEqual([expect.stringMatching(/\/\.a\.md\.tmp\.\d+$/u)]);
    expect(await readFile(path, 'utf8')).toBe('tea');
  });
});
