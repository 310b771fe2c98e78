import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { startChild } from '../e2e/child.ts';

it('a demonstration leaves nothing behind, though the layers have folders of their own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-demonstration-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const child = startChild({
    script: 'main.js',
    folder,
    environment: {
      DISCOCLAW_DURABLE_DATA_DIR: join(folder, 'durable'),
      DISCOCLAW_SUMMARY_DATA_DIR: join(folder, 'summary'),
      DISCOCLAW_SHORTTERM_DATA_DIR: join(folder, 'short-term'),
      DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
      TMPDIR: folder,
    },
  });
  expect(await child.exited).toBe(0);
  expect(child.output()).toContain('Remembered');
  expect((await readdir(folder)).filter((name) => name !== 'workspace')).toEqual([]);
});
