import { readFileSync, readdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';

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
  it('knows nothing of the bot around it', () => {
    const strangers = sources('src/sandbox').flatMap((path) =>
      importsOf(path).filter((name) => name.startsWith('src/') && !name.startsWith('src/sandbox/')),
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
});
