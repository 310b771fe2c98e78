import { readFileSync, readdirSync } from 'node:fs';

import { expect, it } from 'vitest';

import { dataFolders, documentKindOf, rootFiles } from '../../src/bot/disk-checks.ts';

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

it('tells documents from logs and notes', () => {
  const keys = [
    'users/1/durable.json',
    'users/1/short-term/2.json',
    'sessions/1/2/state.json',
    'guilds/1/settings.json',
  ];
  for (const key of [...keys, ...rootFiles.filter((file) => file.endsWith('.json'))])
    expect(documentKindOf(key)).toBeDefined();
  for (const key of keys) expect(dataFolders).toContain(key.split('/')[0]);
  for (const key of ['users/1/notebook/notes.json', 'sessions/1/2/messages.jsonl', 'changes/1.jsonl'])
    expect(documentKindOf(key)).toBeUndefined();
});
