import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { StoreError } from '../../../src/core/errors.ts';
import { createStagedFiles } from '../../../src/memory/notebook/background.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { runs } from '../../support/runs.ts';

const isOwn = (key: string): boolean => key.startsWith('mine/');
const nothing = (): Promise<void> => Promise.resolve();

async function setUp(files: Record<string, string> = {}) {
  const store = new MemoryStore();
  for (const [key, text] of Object.entries(files)) await store.writeText(key, text);
  return { store, files: createStagedFiles(store, isOwn) };
}

/** A store whose disk refuses the second write. */
class FullStore extends MemoryStore {
  writes = 0;
  isFull = false;
  override writeText: MemoryStore['writeText'] = async (key, text) => {
    this.writes += 1;
    if (this.isFull && this.writes === 2) throw new StoreError('no space left', key);
    await super.writeText(key, text);
  };
}

describe('staged files', () => {
  it('write nothing when somebody wrote meanwhile into what was read [A4]', async () => {
    const { store, files } = await setUp({ 'mine/a.md': 'a' });
    await files.readText('mine/a.md');
    await files.writeText('mine/b.md', 'b');
    await store.writeText('mine/a.md', 'a by hand');
    expect(await files.commit(nothing)).toBe(false);
    expect(await store.readText('mine/b.md')).toBeUndefined();
  });

  it('take back what was written when the disk refuses the rest', async () => {
    const store = new FullStore();
    await store.writeText('mine/a.md', 'old');
    const files = createStagedFiles(store, isOwn, 'old');
    await files.writeText('mine/a.md', 'new');
    await files.writeText('mine/b.md', 'b');
    Object.assign(store, { writes: 0, isFull: true });
    await expect(files.commit(nothing)).rejects.toThrow('no space left');
    expect(await store.readText('mine/a.md')).toBe('old');
    expect(await store.readText('mine/b.md')).toBeUndefined();
  });

  it('never read, list or write what is not their own', async () => {
    const key = fc.constantFrom('yours/a.md', 'yours', 'minefield/a.md', 'yours/mine/a.md');
    await fc.assert(
      fc.asyncProperty(key, fc.string(), async (other, text) => {
        const { store, files } = await setUp({ 'yours/a.md': 'secret' });
        await expect(files.readText(other)).rejects.toBeInstanceOf(StoreError);
        await expect(files.writeText(other, text)).rejects.toBeInstanceOf(StoreError);
        await expect(files.list(other)).rejects.toBeInstanceOf(StoreError);
        await files.commit(nothing);
        expect(await store.list('yours')).toEqual([{ path: 'a.md', bytes: 6 }]);
      }),
      { numRuns: runs(30) },
    );
  });
});
