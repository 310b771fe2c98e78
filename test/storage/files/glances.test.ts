import { lstat, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createGlances } from '../../../src/storage/files/glances.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'discoclaw-glances-'));
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(root, { recursive: true });
});

function createRecorded() {
  const looked: string[] = [];
  const glances = createGlances({
    lstat: (path) => {
      looked.push(path);
      return lstat(path, { bigint: true });
    },
  });
  /** A moment later, looks at one path after the other, and tells what was looked at on disk. */
  const lookedAtFor = async (...paths: readonly string[]) => {
    vi.advanceTimersByTime(200);
    looked.length = 0;
    for (const path of paths) await glances.glance(path);
    return [...looked];
  };
  return { glances, looked, lookedAtFor };
}

describe('what is at a path', () => {
  it('is looked at at once with what was wanted after it the last times, and as it is by then', async () => {
    const { glances, looked, lookedAtFor } = createRecorded();
    const [first, second, other] = [join(root, 'a'), join(root, 'b'), join(root, 'c')];
    expect(await lookedAtFor(first, second)).toEqual([first, second]);
    expect(await lookedAtFor(other)).toEqual([other]);
    await writeFile(second, 'by hand');

    expect(await lookedAtFor(first)).toEqual([first, second]);

    expect(await glances.glance(second)).toBeDefined();
    expect(looked).toHaveLength(2);
  });

  it('is not looked at any more once nobody has wanted it for some moments', async () => {
    const { lookedAtFor } = createRecorded();
    const [first, second] = [join(root, 'a'), join(root, 'b')];
    await lookedAtFor(first, second);
    for (let moment = 0; moment < 4; moment += 1) await lookedAtFor(first);

    expect(await lookedAtFor(first)).toEqual([first]);
  });

  it('is looked at again after a change', async () => {
    const { glances, lookedAtFor } = createRecorded();
    const path = join(root, 'a');
    await lookedAtFor(path);
    await writeFile(path, 'by the store');
    expect(await glances.glance(path)).toBeUndefined();
    glances.lookAgain();
    expect(await glances.glance(path)).toBeDefined();
  });
});
