import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';

import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';

import { readConfig, type Environment } from '../config/config.ts';
import { isSnowflake } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import { createLogger } from '../observability/logger.ts';
import { RequestError } from './command-line.ts';
import { openStore } from './open-store.ts';

const clock = () => new Date();

/** Lists the SHA-256 of each file as it was pulled. */
const pulledName = '.pulled.json';

/** `npm run notebook -- pull|push WHOSE FOLDER`; the bot may run [X1]. @throws {RequestError} @throws {StoreError} */
export async function runNotebook(
  wish: string,
  whose: string,
  place: string,
  environment: Environment,
): Promise<void> {
  if (wish !== 'pull' && wish !== 'push') throw new RequestError(`Say pull or push, not "${wish}".`);
  if (whose !== 'workspace' && !isSnowflake(whose))
    throw new RequestError(`"${whose}" is neither a Discord user id nor workspace.`);
  const { config } = readConfig(environment);
  const { databaseUrl, dataDir, workspaceDir } = config.storage;
  if (databaseUrl === undefined) {
    const own = whose === 'workspace' ? workspaceDir : join(dataDir, 'users', whose, 'notebook');
    throw new RequestError(`The bot keeps files, which can be edited where they are: ${resolve(own)}.`);
  }
  const logger = createLogger({ level: 'warn' });
  const root = whose === 'workspace' ? 'workspace' : `users/${whose}/notebook`;
  const { store } = await openStore(config, { as: wish === 'pull' ? 'reader' : 'bot', clock, logger });
  try {
    const carry = wish === 'pull' ? pull : push;
    for (const path of await carry(store, root, resolve(place))) process.stdout.write(`${path}\n`);
  } finally {
    await store.close();
  }
}

/** Resolves with the files that were written. */
async function pull(store: Store, root: string, folder: string): Promise<readonly string[]> {
  const pulled = new Map<string, string>();
  for (const { path } of await store.list(root)) {
    const text = await store.readText(`${root}/${path}`);
    if (text === undefined) continue;
    await write(folder, path, text);
    pulled.set(path, hashOf(text));
  }
  await write(folder, pulledName, JSON.stringify(Object.fromEntries(pulled)));
  return Array.from(pulled.keys(), (path) => join(folder, path));
}

/** Resolves with the keys. @throws {RequestError} where something changed since it was pulled: nothing is written. */
async function push(store: Store, root: string, folder: string): Promise<readonly string[]> {
  const pulled = await pulledIn(folder);
  const edited = new Map<string, string>();
  const inTheWay: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/');
    if (!entry.isFile() || /(?:^|\/)\./u.test(path)) continue;
    const text = await readFile(join(folder, path), 'utf8');
    if (hashOf(text) === pulled.get(path)) continue;
    const stored = await store.readText(`${root}/${path}`);
    if (stored === text) {
      // An interrupted push wrote it.
      pulled.set(path, hashOf(text));
      continue;
    }
    if ((stored === undefined ? undefined : hashOf(stored)) !== pulled.get(path)) inTheWay.push(path);
    edited.set(path, text);
  }
  if (inTheWay.length > 0)
    throw new RequestError(
      `Nothing was pushed, because these have changed since they were pulled: ${inTheWay.toSorted().join(', ')}. Pull into another folder, edit there what you want changed, and push that.`,
    );
  for (const [path, text] of edited) {
    await store.writeText(`${root}/${path}`, text);
    pulled.set(path, hashOf(text));
  }
  await write(folder, pulledName, JSON.stringify(Object.fromEntries(pulled)));
  return Array.from(edited.keys(), (path) => `${root}/${path}`);
}

/** Empty where nothing was pulled into the folder. @throws {RequestError} */
async function pulledIn(folder: string): Promise<Map<string, string>> {
  const text = await readFile(join(folder, pulledName), 'utf8').catch(() => '{}');
  try {
    return new Map(Object.entries(z.record(z.string(), z.string()).parse(JSON.parse(text))));
  } catch {
    throw new RequestError(`${join(folder, pulledName)} was damaged: pull into another folder.`);
  }
}

async function write(folder: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o700 });
  await writeFileAtomic(join(folder, path), text);
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
