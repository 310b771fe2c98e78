import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';

import { openStore } from '../src/bot/open-store.ts';
import { loadEnvironment, readConfig, type Environment } from '../src/config/config.ts';
import { isSnowflake } from '../src/core/snowflake.ts';
import type { Store } from '../src/core/store.ts';
import { createLogger } from '../src/observability/logger.ts';

const usage = `Brings a notebook into a folder for editing by hand, and back; for a store that has no files. The bot may run.

npm run notebook -- pull <user id or workspace> <folder>   writes its files into the folder
npm run notebook -- push <user id or workspace> <folder>   puts the folder's files in the place of those of the same name`;

/** What is the caller's to mend. */
const badRequest = 2;

/** What the script prints for these words of its command line. @throws {RangeError} that says what is wrong with them. @throws {StoreError} */
async function runNotebook(words: readonly string[], environment: Environment): Promise<string> {
  const [wish, whose = '', place = '', ...more] = words;
  if ((wish !== 'pull' && wish !== 'push') || place === '' || more.length > 0) throw new RangeError(usage);
  if (whose !== 'workspace' && !isSnowflake(whose))
    throw new RangeError(`"${whose}" is neither a Discord user id nor workspace.\n\n${usage}`);
  const { config } = readConfig(environment);
  const folder = resolve(place);
  const root = whose === 'workspace' ? 'workspace' : `users/${whose}/notebook`;
  const logger = createLogger({ level: 'warn' });
  const { store, close } = await openStore(config, {
    as: wish === 'pull' ? 'reader' : 'bot',
    clock: () => new Date(),
    logger,
  });
  try {
    const paths = await (wish === 'pull' ? pull(store, root, folder) : push(store, root, folder));
    return paths.map((path) => `${path}\n`).join('');
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

async function main(): Promise<void> {
  try {
    process.stdout.write(await runNotebook(process.argv.slice(2), loadEnvironment()));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = badRequest;
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main();
