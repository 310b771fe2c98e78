import { readFileSync, readdirSync } from 'node:fs';

import { expect, it } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;

it('knows every kind of document that there is in the sources, so that the doctor finds what is damaged [O1]', () => {
  const sources = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const known = readFileSync(`${root}src/bot/disk-checks.ts`, 'utf8');
  const kinds = sources.flatMap((path) =>
    [
      ...readFileSync(`${root}src/${path}`, 'utf8').matchAll(/^(?:export )?const (\w+): DocumentKind</gmu),
    ].map(([, name = '']) => `${name} of ${path}`),
  );
  expect(kinds.length).toBeGreaterThan(8);
  const strangers = kinds.filter((kind) => {
    const [name, path] = kind.split(' of ');
    return !new RegExp(`import \\{ ${name}(?: as \\w+)? \\} from '\\.\\./${path}'`, 'u').test(known);
  });
  expect(strangers).toEqual([]);
});
