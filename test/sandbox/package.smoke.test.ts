import { readFileSync, readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';
import type { z } from 'zod';

import { controlInputs } from '../../src/sandbox/control/control-inputs.ts';

const root = new URL('../..', import.meta.url).pathname;
const readme = readFileSync(`${root}src/sandbox/README.md`, 'utf8');

function sources(folder: string): readonly string[] {
  return readdirSync(root + folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => `${folder}/${path}`);
}

/** What a file imports: packages by name, files from the root on. */
function importsOf(path: string): readonly string[] {
  const text = readFileSync(root + path, 'utf8');
  return [...text.matchAll(/^(?:import .*|\}) from '([^']+)';$/gm)].map(([, name = '']) =>
    name.startsWith('.') ? resolve(dirname(`${root}${path}`), name).slice(root.length) : name,
  );
}

function packageOf(name: string): string {
  return name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');
}

describe('the sandbox as a package', () => {
  it('is tested by itself: its tests know nothing of what is around it', () => {
    const strangers = sources('test/sandbox').flatMap((path) =>
      importsOf(path)
        .filter((name) => name.startsWith('src/') || name.startsWith('test/'))
        .filter((name) => !name.startsWith('src/sandbox/') && !name.startsWith('test/sandbox/'))
        .map((name) => `${path}: ${name}`),
    );
    expect(strangers).toEqual([]);
  });

  it('says in its README which packages it needs', () => {
    const needed = new Set(
      sources('src/sandbox')
        .flatMap(importsOf)
        .filter((name) => !name.startsWith('src/') && !name.startsWith('node:'))
        .map(packageOf),
    );
    const [, said = ''] = /It needs (.*?)\./su.exec(readme) ?? [];
    const named = [...said.matchAll(/`([^`]+)`/g)].map(([, name]) => name);
    expect(new Set(named)).toEqual(needed);
  });

  it('says in its README what each of its files is for', () => {
    const missing = sources('src/sandbox').filter((path) => {
      const name = path.slice('src/sandbox/'.length).split('/').at(-1) ?? '';
      return !readme.includes(`\`${name.replace(/\.ts$/, '')}\``);
    });
    expect(missing).toEqual([]);
  });

  it('shows in its README only calls that the control takes, and all of its methods', () => {
    const calls = [...readme.matchAll(/-d '(.*)' http\S+\/sandbox\/(\w+)$/gm)];
    expect(calls.length).toBeGreaterThan(0);
    const schemas: Readonly<Record<string, z.ZodType>> = controlInputs;
    const refused = calls.filter(
      ([, input = '', method = '']) => schemas[method]?.safeParse(JSON.parse(input)).success !== true,
    );
    expect(refused).toEqual([]);
    expect(Object.keys(schemas).filter((method) => !readme.includes(`\`${method}\``))).toEqual([]);
  });
});
