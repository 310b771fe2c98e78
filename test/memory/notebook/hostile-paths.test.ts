import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';

import type { TurnContext } from '../../../src/core/turn-context.ts';
import { aliceId, bobId, generalId } from '../../support/incoming.ts';
import { dmPlace } from '../../support/sessions.ts';
import { createTemporaryStores, type TemporaryStores } from '../../storage/files/temporary-store.ts';
import { asOwner, dmContext, inGuild, openNotebook } from './notebook-fixtures.ts';
import { runs } from '../../support/runs.ts';

const canary = 'must stay unread and unchanged';

/** Files that no tool may reach, below the stores' folder. */
const forbidden = [
  'outside/secret.md',
  `data/users/${aliceId}/durable.json`,
  `data/users/${aliceId}/notebook/secret.md`,
  `data/users/${aliceId}/notebook/facts/deep/secret.md`,
  `data/users/${aliceId}/notebook/facts/.secret.md`,
  `data/users/${aliceId}/notebook/facts/Secret.md`,
  `data/users/${bobId}/notebook/USER.md`,
  `data/sessions/${dmPlace.channelId}/${aliceId}/messages.jsonl`,
  `data/sessions/${dmPlace.channelId}/${bobId}/overview.md`,
  'workspace/SOUL.md',
  'workspace/channels/general.md',
];

/** Links in the tree, by where they lead to in the folder outside. */
const links: readonly (readonly [string, string])[] = [
  [`data/users/${aliceId}/notebook/facts/link.md`, 'secret.md'],
  [`data/users/${aliceId}/notebook/MEMORY.md`, 'secret.md'],
  [`data/users/${aliceId}/notebook/topics`, ''],
  [`data/sessions/${dmPlace.channelId}/${aliceId}/detail`, ''],
  [`data/sessions/${generalId}/${aliceId}/overview.md`, 'secret.md'],
  ['workspace/episodes', ''],
  ['workspace/facts/link.md', 'secret.md'],
];

/** One of some texts, parted by spaces; an empty one between two spaces. */
const oneOf = (texts: string) => fc.constantFrom(...texts.split(' '));
const part = oneOf('facts topics detail episodes daily USER.md MEMORY.md SOUL.md channels');
const up = oneOf('.. .  ... %2e%2e %2e. ..%00 ..; ․․ ．． ..\u200B %c0%ae%c0%ae ~');
const separator = oneOf('/ / / \\ %2f %5c ／ ∕ ⁄ // \0 :');
const name = fc.oneof(
  oneOf('secret.md Secret.md link.md sеcret.md ſecret.md secret.md.bak .secret.md secret.txt secret.md\0'),
  oneOf('secret.md. secret.md/. secret.md::$DATA deep/secret.md durable.json messages.jsonl overview.md'),
  fc.constantFrom('secret.md ', 'user.md', 'ＵSER.md'),
);
const drive = oneOf('   / C: c:/ \\\\host\\share file:/// ~/ /etc/ ./');
const target = fc.constantFrom(
  ...forbidden,
  `../${bobId}`,
  ...['outside', 'data', 'workspace', 'users', 'notebook', aliceId, bobId],
);
const anyName = fc.string({ unit: 'binary', maxLength: 12 });
const longName = fc.nat({ max: 400 }).map((length) => `${'x'.repeat(length)}.md`);

const hostilePath = fc
  .tuple(
    drive,
    fc.array(fc.tuple(fc.oneof(part, up, target, anyName), separator), { maxLength: 6 }),
    fc.oneof(
      name,
      name,
      longName,
      anyName.map((text) => `${text}.md`),
    ),
  )
  .map(([start, pieces, end]) => `${start}${pieces.flat().join('')}${end}`);

let stores: TemporaryStores;
let root: string;
beforeEach(async () => {
  stores = await createTemporaryStores();
  root = dirname(stores.dataDir);
  for (const path of forbidden) await plant(path);
  for (const [link, to] of links) {
    await mkdir(dirname(join(root, link)), { recursive: true });
    await symlink(join(root, 'outside', to), join(root, link));
  }
});
afterEach(() => stores.dispose());

async function plant(path: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), canary);
}

/** Files that tools may have written: those of the tree, their backups and the links they took the place of. */
const inTree = new RegExp(
  `^(?:data/users/${aliceId}/notebook|workspace)/(?:USER|MEMORY)\\.md$` +
    `|^(?:data/users/${aliceId}/notebook|workspace)/(?:facts|topics|episodes|daily|memory)/[^/]+\\.md$` +
    `|^data/sessions/(?:${dmPlace.channelId}|${generalId})/${aliceId}/(?:overview|detail/[^/]+)\\.md$`,
  'u',
);

async function otherFiles(): Promise<readonly string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)));
  return paths
    .filter((path) => !inTree.test(path.replace(/\.bak$/u, '')) && !path.startsWith('data/.'))
    .toSorted();
}

it('no file outside the tree is read or written, whatever the path [M5]', async () => {
  const before = await otherFiles();
  const times = await Promise.all(forbidden.map((path) => stat(join(root, path))));
  const store = await stores.open();
  const { run } = await openNotebook({}, { store });
  const contexts: readonly TurnContext[] = [dmContext(), dmContext(asOwner), inGuild()];
  for (const context of contexts)
    expect(await run('list', {}, context)).toEqual({ ok: true, text: 'There are no files yet.' });
  const inputs = [
    ['read', {}],
    ['write', { content: 'overwritten' }],
    ['patch', { patches: [{ oldText: 'unread', newText: 'patched' }] }],
    ['append', { entry: 'appended' }],
  ] as const;
  let tried = 0;
  let answered = 0;

  await fc.assert(
    fc.asyncProperty(fc.array(hostilePath, { minLength: 500, maxLength: 500 }), async (paths) => {
      const shown: string[] = [];
      for (const path of paths) {
        const context = contexts[tried % contexts.length] ?? dmContext();
        const [tool, input] = inputs[Math.floor(tried / contexts.length) % inputs.length] ?? inputs[0];
        const { ok, text } = await run(tool, { path, ...input }, context);
        tried += 1;
        if (ok) answered += 1;
        if (text.includes(canary) || text.includes(root)) shown.push(`${tool} ${path}: ${text}`);
      }
      expect(shown).toEqual([]);
    }),
    { numRuns: runs(200) },
  );

  for (const link of ['facts/link.md', 'MEMORY.md', 'topics/secret.md', 'detail/secret.md']) {
    for (const [tool, input] of inputs) {
      expect(await run(tool, { path: link, ...input })).toMatchObject({
        ok: false,
        text: expect.stringMatching(/symbolic link|is not a file/u),
      });
    }
  }
  expect(tried).toBe(500 * runs(200));
  // Most are refused before any file is looked for, but not all: otherwise nothing would be shown by this.
  expect(answered).toBeGreaterThan(0);
  expect(await otherFiles()).toEqual(before);
  for (const [index, path] of forbidden.entries()) {
    expect(await readFile(join(root, path), 'utf8')).toBe(canary);
    expect((await stat(join(root, path))).mtimeMs).toBe(times[index]?.mtimeMs);
  }
});
