import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { access, mkdir, readFile, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

import { openPromise, type Entry, type ZipFile as OpenedZip } from 'yauzl';
import { ZipFile } from 'yazl';
import { z } from 'zod';

import { readConfig, type Config, type Environment } from '../config/config.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { parseJson } from '../core/text.ts';
import { createLogger } from '../observability/logger.ts';
import { nodeFileSystem } from '../storage/files/file-system.ts';
import { FolderInUseError, takeOwnerLock } from '../storage/files/owner-lock.ts';
import { allRoots, locate, rootsIn, type RootFolders } from '../storage/files/paths.ts';
import { readSnapshot, type SnapshotContents } from '../storage/files/snapshot.ts';
import { createFileStore } from '../storage/files/store.ts';
import { erasedAtIn, erasuresKey, erasuresKind, type ErasureList } from '../memory/settings/erasures.ts';
import { RequestError } from './command-line.ts';
import { openMemory } from './memory-alone.ts';

/** The running bot looks for requests every ten seconds, and may have much to copy. */
const patienceMs = 5 * 60_000;
const lookEveryMs = 200;

/** The first entry of a backup. */
const aboutName = 'backup.json';
const aboutSchema = z.object({
  format: z.literal(1),
  /** ISO 8601, UTC. Everything acknowledged until then is in the backup. */
  at: z.string(),
});
type About = z.infer<typeof aboutSchema>;

const token = () => randomBytes(6).toString('hex');
const onlyOwner = { mode: 0o600, flags: 'wx', flush: true };

/** `npm run backup -- FILE` writes a consistent copy of all files to a zip file [O4]. @throws {RequestError} @throws {StoreError} */
export async function runBackup(path: string, environment: Environment): Promise<void> {
  const file = resolve(path);
  const config = configOfFiles(environment, 'pg_dump makes a consistent copy of it');
  const { data } = rootsIn(config.storage);
  if (await exists(file)) throw new RequestError(`There is a file ${file} already: name another.`);
  if (!(await exists(dirname(file)))) throw new RequestError(`There is no folder ${dirname(file)}.`);
  if (!(await exists(data))) throw new RequestError(`There is no data folder at ${data}.`);
  const about: About = { format: 1, at: new Date().toISOString() };
  const folder = join(data, `.backup-${token()}`);
  const staged = `${file}.${token()}.part`;
  await mkdir(folder, { mode: 0o700 });
  try {
    const contents = await copyInto(folder, config);
    await pack(contents, folder, about, staged);
    await rename(staged, file);
    process.stdout.write(
      `${file}: ${contents.length} files, as they were at ${about.at}.\nIt holds what people said: keep it private, and no longer than you need it.\n`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(staged, { force: true });
  }
}

/** The running bot makes the copy; without one, this process does. */
async function copyInto(folder: string, config: Config): Promise<SnapshotContents> {
  try {
    const logger = createLogger({ level: 'warn' });
    const store = await createFileStore({ ...config.storage, clock: () => new Date(), logger });
    await store.serveSnapshots();
    await store.close();
  } catch (error) {
    if (!(error instanceof FolderInUseError)) throw error;
    process.stderr.write('The bot is running: it makes the copy, within ten seconds or so.\n');
  }
  for (const end = Date.now() + patienceMs; Date.now() < end; await wait(lookEveryMs)) {
    const contents = await readSnapshot(folder);
    if (contents !== undefined) return contents;
  }
  throw new RequestError(
    'The process that uses the data folder made no copy: stop it, and try again. Its log may say why.',
  );
}

async function pack(contents: SnapshotContents, folder: string, about: About, file: string): Promise<void> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from(`${JSON.stringify(about, null, 2)}\n`), aboutName);
  for (const { name, file: copy, size } of contents) {
    // Not a name that the bot uses, nor one that an archive can hold.
    if (name.includes('\\')) continue;
    zip.addReadStreamLazy(name, { size }, (give) => {
      give(null, size === 0 ? Readable.from([]) : createReadStream(join(folder, copy), { end: size - 1 }));
    });
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file, onlyOwner));
}

/** `npm run restore -- FILE`, with `--replace` in the place of what is there [O4]. @throws {RequestError} @throws {StoreError} */
export async function runRestore(
  path: string,
  isReplacing: boolean,
  environment: Environment,
): Promise<void> {
  const file = resolve(path);
  const roots = rootsIn(configOfFiles(environment, 'pg_restore puts a copy back').storage);
  const all = allRoots(roots);
  for (const root of all) await mkdir(root, { recursive: true, mode: 0o700 });
  const lock = await takeOwnerLock(nodeFileSystem, roots.data).catch((error: unknown) => {
    throw error instanceof FolderInUseError ? new RequestError(error.message) : error;
  });
  const mark = token();
  const [staging, aside] = [`.restoring-${mark}`, `.replaced-${mark}`];
  let erasures: readonly ErasureList[];
  let unpacked: Unpacked;
  try {
    if (!isReplacing) await refuseToReplace(roots);
    erasures = await erasuresIn(roots);
    unpacked = await unpack(file, roots, staging);
    for (const root of all) await exchange(root, staging, aside);
    for (const root of all)
      if (root !== roots.workspace) await rm(join(root, aside), { recursive: true, force: true });
  } finally {
    for (const root of all) await rm(join(root, staging), { recursive: true, force: true });
    await lock.release();
  }
  const again = await eraseAgain(erasures, unpacked, environment);
  const kept = (await exists(join(roots.workspace, aside)))
    ? `What the workspace held before is in ${join(roots.workspace, aside)}.\n`
    : '';
  process.stdout.write(`Restored ${unpacked.count} files, as they were at ${unpacked.at}.\n${again}${kept}`);
}

interface Unpacked {
  /** As in `aboutSchema`. */
  readonly at: string;
  readonly count: number;
  /** The Discord ids in file names: each person in the backup has a folder. */
  readonly ids: ReadonlySet<string>;
}

/** Checks and unpacks all files into `staging` folders. @throws {RequestError} that says what is wrong. */
async function unpack(file: string, roots: RootFolders, staging: string): Promise<Unpacked> {
  let zip: OpenedZip | undefined;
  try {
    zip = await openPromise(file, { lazyEntries: true, autoClose: false });
    let at: string | undefined;
    let count = 0;
    const ids = new Set<string>();
    for await (const entry of zip.eachEntry()) {
      const { fileName: name } = entry;
      if (at === undefined) {
        ({ at } = aboutSchema.parse(
          name === aboutName && (await json(await zip.openReadStreamPromise(entry))),
        ));
        continue;
      }
      if (!/^(?:data|workspace)\/./u.test(name)) throw new Error(`it has ${name}`);
      const { root, path } = locate(roots, name.replace(/^data\//u, ''));
      await unpackEntry(zip, entry, join(root, staging, path.slice(root.length)));
      for (const id of name.split('/').filter(isSnowflake)) ids.add(id);
      count += 1;
    }
    if (at === undefined) throw new Error('it is empty');
    return { at, count, ids };
  } catch (error) {
    const cause = error instanceof z.ZodError ? 'this version of `npm run backup` did not make it' : error;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const text = `${file} cannot be read as a backup, and nothing was changed: ${reason}`;
    throw new RequestError(text, { cause: error });
  } finally {
    zip?.close();
  }
}

async function unpackEntry(zip: OpenedZip, entry: Entry, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  let sum = 0;
  async function* summed(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      sum = crc32(piece, sum);
      yield piece;
    }
  }
  await pipeline(await zip.openReadStreamPromise(entry), summed, createWriteStream(target, onlyOwner));
  if (sum !== entry.crc32) throw new Error(`${entry.fileName} is not what it was`);
}

/** @throws {RequestError} where a root folder is not empty. */
async function refuseToReplace(roots: RootFolders): Promise<void> {
  for (const root of allRoots(roots)) {
    const [found] = await standing(root);
    if (found === undefined) continue;
    throw new RequestError(
      `${join(root, found)} is there already, and nothing was changed. Add --replace to put the backup in place of what ${root} holds.`,
    );
  }
}

/** What a root folder holds, apart from hidden files. */
async function standing(root: string): Promise<readonly string[]> {
  return (await readdir(root)).filter((name) => !name.startsWith('.'));
}

/** Moves a root folder's contents to `aside`, and those of `staging` in their place. */
async function exchange(root: string, staging: string, aside: string): Promise<void> {
  const former = await standing(root);
  if (former.length > 0) await mkdir(join(root, aside), { mode: 0o700 });
  for (const name of former) await rename(join(root, name), join(root, aside, name));
  if (!(await exists(join(root, staging)))) return;
  for (const name of await readdir(join(root, staging)))
    await rename(join(root, staging, name), join(root, name));
}

/** The present data folder's hashes of people who had everything erased [K11]. */
async function erasuresIn({ data }: RootFolders): Promise<readonly ErasureList[]> {
  const text = await readFile(join(data, erasuresKey), 'utf8').catch(() => '');
  const { data: document } = erasuresKind.schema.safeParse(text === '' ? undefined : parseJson(text));
  return document?.lists ?? [];
}

/** Erases again what people had erased after the backup was made. Resolves with a report. */
async function eraseAgain(
  lists: readonly ErasureList[],
  { ids, at: moment }: Unpacked,
  environment: Environment,
): Promise<string> {
  if (lists.length === 0) return '';
  const erased = [...ids].flatMap((id) =>
    lists.flatMap((list) => {
      const at = erasedAtIn(list, id);
      return at === undefined || at <= moment ? [] : [{ id, at }];
    }),
  );
  const { memory, close } = await openMemory(environment);
  try {
    await memory.people.adoptErasures(lists);
    for (const { id, at } of erased) await memory.changes.erase(id, at);
  } finally {
    await close();
  }
  const people = new Set(erased.map(({ id }) => id)).size;
  return people === 0
    ? ''
    : `Erased again what ${people === 1 ? 'one person' : `${people} people`} had erased since.\n`;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** @throws {RequestError} where the store is a database, which has its own tools. */
function configOfFiles(environment: Environment, instead: string): Config {
  const { config } = readConfig(environment);
  if (config.storage.databaseUrl === undefined) return config;
  throw new RequestError(`DISCOCLAW_STORE is a PostgreSQL database: ${instead}, see docs/scale.md.`);
}
