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
  const spoken = child
    .output()
    .split('\n')
    .filter((line) => line.includes('  alice: '));
  expect(spoken).toEqual([
    '#dev  alice: !memory remember I prefer Rust over Go for command line tools',
    '#general  alice: which language should I use for my command line tool?',
    '@dm  alice: !memory remember My surprise party is on Friday',
    '#general  alice: when is the party?',
    '@dm  alice: when is the party?',
    '#general  alice: !memory show',
    '@dm  alice: !memory show',
    '#dev  alice: I always drink green tea while I debug',
    '#general  alice: /memory show',
    '#general  alice: !memory forget Rust',
    '#general  alice: which language should I use for my command line tool?',
  ]);
  expect(child.output()).toMatch(/npm start.*\n$/u);
  expect((await readdir(folder)).filter((name) => name !== 'workspace')).toEqual([]);
});

it('the chat says at its beginning which model speaks and where memory lies', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-beginning-test-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const beginning = async (environment: Readonly<Record<string, string>>): Promise<string> => {
    const child = startChild({ script: 'main.js', folder, environment, input: '/quit\n' });
    expect(await child.exited).toBe(0);
    return child.output();
  };
  const offline = await beginning({});
  expect(offline).toContain('offline stand-in');
  expect(offline).toContain(join(folder, 'data'));
  const online = await beginning({ ANTHROPIC_API_KEY: 'none', DISCOCLAW_MODEL: 'claude-x' });
  expect(online).toContain('claude-x');
  expect(online).not.toContain('offline');
});
