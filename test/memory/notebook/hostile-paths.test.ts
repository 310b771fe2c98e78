import { mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { aliceId, bobId } from '../../support/incoming.ts';
import { dmPlace } from '../../support/sessions.ts';
import { createTemporaryStores, type TemporaryStores } from '../../storage/files/temporary-store.ts';
import { asOwner, dmContext, inGuild, openNotebook } from './notebook-fixtures.ts';
import { runs } from '../../support/runs.ts';

const canary = 'must stay unread and unchanged';
const notebook = `data/users/${aliceId}/notebook`;

/** Files that no tool may reach, below the stores' folder. */
const forbidden = [
  'outside/secret.md',
  `data/users/${aliceId}/durable.json`,
  `${notebook}/secret.md`,
  `${notebook}/facts/deep/secret.md`,
  `${notebook}/facts/.secret.md`,
  `${notebook}/facts/Secret.md`,
  `data/users/${bobId}/notebook/USER.md`,
  `data/sessions/${dmPlace.channelId}/${aliceId}/messages.jsonl`,
  `data/sessions/${dmPlace.channelId}/${bobId}/overview.md`,
  'workspace/SOUL.md',
  'workspace/channels/general.md',
];

/** Links in the tree, by where they lead to in the folder outside. */
const links = { 'facts/link.md': 'secret.md', 'MEMORY.md': 'secret.md', topics: '' } as const;

/** One of some texts, parted by spaces; an empty one between two spaces. */
const oneOf = (texts: string) => fc.constantFrom(...texts.split(' '));
const drive = oneOf('   / C: c:/ \\\\host\\share file:/// ~/ /etc/ ./');
const part = fc.oneof(
  oneOf('facts topics detail episodes daily USER.md MEMORY.md SOUL.md channels outside data workspace users'),
  oneOf('.. .  ... %2e%2e %2e. ..%00 ..; ․․ ．． ..\u200B %c0%ae%c0%ae ~'),
  fc.constantFrom(...forbidden, `../${bobId}`, aliceId, bobId),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const separator = oneOf('/ / / \\ %2f %5c ／ ∕ ⁄ // \0 :');
const name = oneOf(
  'secret.md Secret.md link.md sеcret.md ſecret.md secret.md.bak .secret.md secret.md\0 secret.md/. secret.md::$DATA deep/secret.md durable.json messages.jsonl overview.md user.md ＵSER.md',
);
const hostilePath = fc
  .tuple(drive, fc.array(fc.tuple(part, separator), { maxLength: 6 }), name)
  .map(([start, pieces, end]) => `${start}${pieces.flat().join('')}${end}`);

let stores: TemporaryStores;
let root: string;
beforeEach(async () => {
  stores = await createTemporaryStores();
  root = dirname(stores.dataDir);
  for (const path of forbidden) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), canary);
  }
  for (const [link, to] of Object.entries(links))
    await symlink(join(root, 'outside', to), join(root, notebook, link));
});
afterEach(() => stores.dispose());

it('no file outside the tree is read or written, whatever the path, nor through a link [M5]', async () => {
  const times = await Promise.all(forbidden.map((path) => stat(join(root, path))));
  const { run } = await openNotebook({}, { store: await stores.open() });
  const contexts = [dmContext(), dmContext(asOwner), inGuild()] as const;
  const tools = fc.constantFrom('read', 'write', 'patch', 'append');
  const input = {
    content: 'overwritten',
    patches: [{ oldText: 'unread', newText: 'patched' }],
    entry: 'appended',
  };
  const tried = fc.tuple(fc.constantFrom(...contexts), tools, hostilePath);
  await fc.assert(
    fc.asyncProperty(fc.array(tried, { minLength: 200, maxLength: 200 }), async (all) => {
      for (const [context, tool, path] of all) {
        const { text } = await run(tool, { path, ...input }, context);
        expect(text.includes(canary) || text.includes(root)).toBe(false);
      }
    }),
    { numRuns: runs(300) },
  );
  for (const path of ['facts/link.md', 'MEMORY.md', 'topics/secret.md'])
    for (const tool of ['read', 'write', 'patch', 'append'])
      expect((await run(tool, { path, ...input })).text).toMatch(/symbolic link|is not a file/u);
  for (const [index, path] of forbidden.entries()) {
    expect(await readFile(join(root, path), 'utf8')).toBe(canary);
    expect((await stat(join(root, path))).mtimeMs).toBe(times[index]?.mtimeMs);
  }
  expect(await readdir(join(root, 'outside'))).toEqual(['secret.md']);
});
