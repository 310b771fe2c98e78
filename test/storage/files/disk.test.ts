import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDisk } from '../../../src/storage/files/disk.ts';
import { nextOf } from '../../../src/storage/files/paths.ts';
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
  it('makes up for a sync that failed', async () => {
    const { disk, folders } = createRecorded();
    await folders.openRoot(root, true);
    disk.fate = diskError('EIO');
    await expect(folders.ensureFolder(join(root, 'a'))).rejects.toThrow('EIO');
    [disk.fate, disk.synced] = ['works', []];
    await folders.ensureFolder(join(root, 'a'));
    expect(disk.synced).toEqual([root]);
  });
});

describe('what is erased', () => {
  it('leaves no name that a loss of power could bring back [S7]', async () => {
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
    await disk.replaceFile({ key: 'a', path, bytes: Buffer.from('cake') });
    expect(seen.at(-1)).toBe('synced');
    await disk.removeFile(path);
    expect(seen.slice(-2)).toEqual(['removed', 'synced']);
    await writeFile(`${nextOf(path)}.123456`, 'what a killed process left');
    expect(await disk.removeStrays(root, new AbortController().signal)).toBe(1);
    expect(seen.slice(-2)).toEqual(['removed', 'synced']);
  });
});
