import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

import { configurationTable, envExample } from '../../src/config/variables.ts';
import { requirementsText } from '../../src/discord/required-permissions.ts';

const root = new URL('../..', import.meta.url).pathname;

const allowedInRoot = new Set([
  'src',
  'test',
  'workspace',
  'data',
  'scripts',
  'docs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'ecosystem.config.cjs',
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'LICENSE',
]);

function sources(folder: string): readonly string[] {
  return readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`);
}

describe('the project', () => {
  it('has nothing in its root but what belongs there', () => {
    const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
      .split('\n')
      .filter(Boolean);
    const names = new Set(tracked.map((path) => path.split('/')[0] ?? ''));
    expect([...names].filter((name) => !name.startsWith('.') && !allowedInRoot.has(name))).toEqual([]);
  });

  it('has no source file over 400 lines', () => {
    const long = sources('src').filter((path) => readFileSync(root + path, 'utf8').split('\n').length > 401);
    expect(long).toEqual([]);
  });

  it('has folders at most two deep below src', () => {
    expect(sources('src').filter((path) => path.split('/').length > 4)).toEqual([]);
  });

  it('describes every variable in .env.example and README as the schema has it', () => {
    expect(readFileSync(`${root}.env.example`, 'utf8')).toBe(envExample());
    expect(readFileSync(`${root}README.md`, 'utf8')).toContain(configurationTable());
    expect(readFileSync(`${root}README.md`, 'utf8')).toContain(requirementsText());
  });

  it('can be run by its continuous integration script', () => {
    expect(statSync(`${root}.ci/run`).mode & 0o111).not.toBe(0);
    expect(readFileSync(`${root}.ci/run`, 'utf8')).toMatch(/npm ci .*\nnpm test\n/u);
  });
});
