import { cp, mkdtemp, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../..', import.meta.url).pathname;
const copied = [
  'src',
  'scripts',
  'test',
  'docs',
  'workspace',
  'README.md',
  'ARCHITECTURE.md',
  'package.json',
  'tsconfig.json',
  '.env.example',
  '.oxlintrc.json',
  '.oxfmtrc.json',
];

/** A copy in which something can be planted without disturbing anybody. */
export async function copyOfTheTree(): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'discoclaw-tree-'));
  for (const name of copied) await cp(join(root, name), join(tree, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(tree, 'node_modules'));
  return tree;
}
