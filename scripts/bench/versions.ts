import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { createLogger } from '../../src/observability/logger.ts';
import type * as StoreModule from '../../src/storage/files/store.ts';
import type { FileStore } from '../../src/storage/files/store.ts';

/** A version of ourselves, with its packages and built. */
export interface Version {
  readonly name: string;
  /** Its folder. */
  readonly root: string;
  /** A module of it, by the first of these paths below its `src` that it has: files have had several homes. */
  load<Module>(...paths: readonly string[]): Promise<Module>;
}

const run = promisify(execFile);
const ownRoot = join(import.meta.dirname, '../..');

export const ours = versionAt('ours', ownRoot);

/** The store of a version, over the folders `data` and `workspace` in another. */
export async function openStoreOf(version: Version, folder: string): Promise<FileStore> {
  const { createFileStore } = await version.load<typeof StoreModule>(
    'storage/files/store.ts',
    'storage/files/file-store.ts',
  );
  return createFileStore({
    dataDir: join(folder, 'data'),
    workspaceDir: join(folder, 'workspace'),
    clock: () => new Date(),
    logger: createLogger({ level: 'error' }),
  });
}

/** Unpacks another version in a temporary folder, and builds it there. */
export async function unpack(ref: string): Promise<Version> {
  const root = await mkdtemp(join(tmpdir(), 'bench-version-'));
  const archive = join(root, 'archive.tar');
  await run('git', ['archive', '-o', archive, ref], { cwd: ownRoot });
  await run('tar', ['-xf', archive, '-C', root]);
  if (await hasAllPackagesOf(root)) await symlink(join(ownRoot, 'node_modules'), join(root, 'node_modules'));
  else await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root });
  await run('npm', ['run', '--silent', 'build'], { cwd: root });
  return versionAt(ref, root);
}

function versionAt(name: string, root: string): Version {
  return {
    name,
    root,
    async load(...paths) {
      const path = paths.map((each) => join(root, 'src', each)).find((each) => existsSync(each));
      if (path === undefined) throw new Error(`${name} has none of ${paths.join(', ')}`);
      return import(path);
    },
  };
}

/** Whether this version's packages will do for the other one: all that it names, in the same versions. */
async function hasAllPackagesOf(root: string): Promise<boolean> {
  const [own, other] = await Promise.all([packagesOf(ownRoot), packagesOf(root)]);
  return Array.from(other, ([path, version]) => own.get(path) === version).every(Boolean);
}

async function packagesOf(root: string): Promise<ReadonlyMap<string, string | undefined>> {
  const lock: { packages: Record<string, { version?: string }> } = JSON.parse(
    await readFile(join(root, 'package-lock.json'), 'utf8'),
  );
  return new Map(Object.entries(lock.packages).map(([path, { version }]) => [path, version]));
}
