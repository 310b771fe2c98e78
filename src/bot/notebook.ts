import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

import { readConfig, type Environment } from '../config/config.ts';
import { isSnowflake } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import { createLogger } from '../observability/logger.ts';
import { openStore } from './open-store.ts';

const clock = () => new Date();

/** What is the caller's to mend. */
const badRequest = 2;

/**
 * `npm run notebook -- pull|push WHOSE FOLDER`: brings a person's notebook, or the workspace, out of a database into a folder for editing by hand, or puts the folder's
 * files in the place of those of the same name; the bot may run [X1]. Prints what was written. Resolves with the exit code. @throws {StoreError}
 */
export async function runNotebook(
  wish: string,
  whose: string,
  place: string,
  environment: Environment,
): Promise<number> {
  try {
    for (const path of await carry(wish, whose, resolve(place), environment))
      process.stdout.write(`${path}\n`);
    return 0;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return badRequest;
  }
}

/** Resolves with what was written. @throws {RangeError} that says what is wrong with the words. @throws {StoreError} */
async function carry(
  wish: string,
  whose: string,
  folder: string,
  environment: Environment,
): Promise<readonly string[]> {
  if (wish !== 'pull' && wish !== 'push') throw new RangeError(`Say pull or push, not "${wish}".`);
  if (whose !== 'workspace' && !isSnowflake(whose))
    throw new RangeError(`"${whose}" is neither a Discord user id nor workspace.`);
  const { config } = readConfig(environment);
  const { databaseUrl, dataDir, workspaceDir } = config.storage;
  if (databaseUrl === undefined) {
    const own = whose === 'workspace' ? workspaceDir : join(dataDir, 'users', whose, 'notebook');
    throw new RangeError(`The bot keeps files, which can be edited where they are: ${resolve(own)}.`);
  }
  const logger = createLogger({ level: 'warn' });
  const root = whose === 'workspace' ? 'workspace' : `users/${whose}/notebook`;
  const { store, close } = await openStore(config, { as: wish === 'pull' ? 'reader' : 'bot', clock, logger });
  try {
    return await (wish === 'pull' ? pull(store, root, folder) : push(store, root, folder));
  } finally {
    await close();
  }
}

/** Resolves with the files that were written. */
async function pull(store: Store, root: string, folder: string): Promise<readonly string[]> {
  const files = await store.list(root);
  for (const { path } of files) {
    const text = await store.readText(`${root}/${path}`);
    if (text === undefined) continue;
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
    await writeFile(join(folder, path), text, { mode: 0o600 });
  }
  return files.map(({ path }) => join(folder, path));
}

/** Resolves with the keys that are other than before. Hidden files stay where they are. */
async function push(store: Store, root: string, folder: string): Promise<readonly string[]> {
  const changed: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/');
    if (!entry.isFile() || /(?:^|\/)\./u.test(path)) continue;
    const key = `${root}/${path}`;
    const text = await readFile(join(folder, path), 'utf8');
    if ((await store.readText(key)) === text) continue;
    await store.writeText(key, text);
    changed.push(key);
  }
  return changed;
}
