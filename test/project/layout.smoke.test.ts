import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { generatedFiles } from '../../scripts/documentation.ts';
import { variables } from '../../src/config/variables.ts';

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
  'Dockerfile',
  'compose.yaml',
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

/** The pages that people write, by path. */
function documentation(): readonly string[] {
  const pages = ['docs', '.github'].flatMap((folder) =>
    readdirSync(root + folder, { recursive: true, encoding: 'utf8' }).map((path) => `${folder}/${path}`),
  );
  return ['README.md', 'ARCHITECTURE.md', ...pages.filter((path) => path.endsWith('.md'))];
}

const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(`${root}package.json`, 'utf8')));
const variableNames = new Set(Object.values(variables).flatMap((theme) => Object.keys(theme)));

/** Whether a piece of code in the documentation names something that is there; anything but a path, script or variable counts as existing. */
function exists(code: string): boolean {
  const script = /^npm (?:run )?(?<name>[\w:-]+)/u.exec(code)?.groups?.['name'];
  if (script !== undefined && script !== 'ci') return script in scripts;
  const variable = /^(?<name>(?:DISCORD|DISCOCLAW)_\w+)(?:=\S*)?$/u.exec(code)?.groups?.['name'];
  if (variable !== undefined) return variableNames.has(variable);
  const isPath = /^(?:src|test|scripts|docs|workspace)\/[\w./-]+$/u.test(code) && !code.includes('YYYY');
  return !isPath || code.startsWith('workspace/') || existsSync(root + code);
}

describe('the project', () => {
  it('starts the bot in the same way by npm, by pm2 and in the documentation', () => {
    const [, options = ''] = /node (?<options>--.*) dist\/main\.js$/u.exec(scripts['start'] ?? '') ?? [];
    expect(options).not.toBe('');
    expect(readFileSync(`${root}ecosystem.config.cjs`, 'utf8')).toContain(`node_args: '${options}'`);
    expect(readFileSync(`${root}docs/operating.md`, 'utf8')).toContain(`\`node ${options} dist/main.js\``);
  });

  it('has only expected files in its root', () => {
    const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
      .split('\n')
      .filter(Boolean);
    const names = new Set(tracked.map((path) => path.split('/')[0] ?? ''));
    expect([...names].filter((name) => !name.startsWith('.') && !allowedInRoot.has(name))).toEqual([]);
  });

  it('has folders at most two deep below src', () => {
    expect(sources('src').filter((path) => path.split('/').length > 4)).toEqual([]);
  });

  it.each([...generatedFiles()])('has in %s what the code says', (path, text) => {
    expect(readFileSync(root + path, 'utf8')).toBe(text);
  });

  it('has only working links in its documentation', () => {
    const links = documentation().flatMap((path) =>
      [...readFileSync(root + path, 'utf8').matchAll(/\]\((?<target>[^)#\s]+)[^)]*\)/gu)].map(
        ({ groups }) => ({ path, target: groups?.['target'] ?? '' }),
      ),
    );
    expect(links.length).toBeGreaterThan(10);
    const dead = links.filter(
      ({ path, target }) => !/^https?:/u.test(target) && !existsSync(join(root, dirname(path), target)),
    );
    expect(dead).toEqual([]);
  });

  it('names in its documentation only files, scripts and variables that exist', () => {
    const named = documentation().flatMap((path) =>
      [...readFileSync(root + path, 'utf8').matchAll(/`(?<code>[^`\n]+)`/gu)].map(({ groups }) => ({
        path,
        code: groups?.['code'] ?? '',
      })),
    );
    expect(named.filter(({ code }) => !exists(code))).toEqual([]);
  });
});
