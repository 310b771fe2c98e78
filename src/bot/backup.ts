import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, mkdir, readFile, readdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { crc32 } from 'node:zlib';

import { openPromise, type Entry, type ZipFile as OpenedZip } from 'yauzl';
import { ZipFile } from 'yazl';
import { z } from 'zod';

import { readConfig, type Config, type Environment } from '../config/config.ts';
import { NewerVersionError } from '../core/errors.ts';
import { isSnowflake } from '../core/snowflake.ts';
import { createLogger } from '../observability/logger.ts';
import { formatDocument, parseDocument } from '../storage/document-text.ts';
import { nodeFileSystem, unlessMissing } from '../storage/files/file-system.ts';
import { FolderInUseError, takeOwnerLock, waitNotice } from '../storage/files/owner-lock.ts';
import { allRoots, locate, rootsIn, type RootFolders } from '../storage/files/paths.ts';
import { readSnapshot, type SnapshotContents } from '../storage/files/snapshot.ts';
import { createFileStore, findRoots } from '../storage/files/store.ts';
import {
  erasedAtIn,
  erasuresKey,
  erasuresKind,
  later,
  withList,
  type ErasureList,
} from '../memory/settings/erasures.ts';
import { changesFolder, emptyRecord, withheldKey } from '../memory/withheld.ts';
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
  const roots = await findRoots(nodeFileSystem, config.storage);
  if (rootOf(roots, await realpath(dirname(file))) !== '')
    throw new RequestError(
      `${dirname(file)} is backed up itself, so that each backup would hold all before it: name a file elsewhere.`,
    );
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
  for (const { name, file: copy } of contents) {
    // Not a name that the bot uses, nor one that an archive can hold.
    if (name.includes('\\')) continue;
    zip.addFile(join(folder, copy), name);
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(file, onlyOwner));
}

const sayWaiting = () => void process.stderr.write(`${waitNotice}\n`);

/**
 * `npm run restore -- FILE`, with `--replace` in the place of what is there [O4]. Where it is killed, the next start
 * of the bot erases again: the restored folder says so before it takes the old one's place.
 * @throws {RequestError} @throws {StoreError}
 */
export async function runRestore(
  path: string,
  isReplacing: boolean,
  environment: Environment,
): Promise<void> {
  const file = resolve(path);
  const { storage } = configOfFiles(environment, 'pg_restore puts a copy back');
  for (const root of allRoots(rootsIn(storage))) await mkdir(root, { recursive: true, mode: 0o700 });
  const roots = await findRoots(nodeFileSystem, storage);
  const places = await placesIn(roots);
  const lock = await takeOwnerLock(nodeFileSystem, roots.data, { onWait: sayWaiting }).catch(
    (error: unknown) => {
      throw error instanceof FolderInUseError ? new RequestError(error.message) : error;
    },
  );
  const mark = token();
  const [staging, aside] = [`.restoring-${mark}`, `.replaced-${mark}`];
  let erased: number;
  let unpacked: Awaited<ReturnType<typeof unpack>>;
  try {
    if (!isReplacing) await refuseToReplace(places);
    const lists = await erasuresIn(roots);
    unpacked = await unpack(file, { roots, places, staging });
    erased = await stageErasures(lists, unpacked, join(roots.data, staging));
    await lock.assertHeld();
    if (isReplacing)
      process.stderr.write(`Until all is in place, what is replaced lies in ${aside} below ${roots.data}.\n`);
    await exchange(places, staging, aside);
    for (const place of places) if (rootOf(roots, place) !== roots.workspace) await removeSetAside(place);
  } finally {
    for (const place of places) await rm(join(place, staging), { recursive: true, force: true });
    await lock.release();
  }
  const again = erased === 0 ? '' : await eraseAgain(erased, environment);
  const kept = (await exists(join(roots.workspace, aside)))
    ? `What the workspace held before is in ${join(roots.workspace, aside)}.\n`
    : '';
  process.stdout.write(`Restored ${unpacked.count} files, as they were at ${unpacked.at}.\n${again}${kept}`);
}

/**
 * The folders whose contents are exchanged each by itself, the innermost last: roots, volumes below them, and what
 * leads there, since none of these can be moved.
 */
async function placesIn(roots: RootFolders): Promise<readonly string[]> {
  const mounts = await readFile('/proc/self/mountinfo', 'utf8').catch(() => '');
  const fixed = mounts.split('\n').map((line) =>
    // Spaces and the like are octal there.
    (line.split(' ')[4] ?? '').replaceAll(/\\(\d{3})/gu, (_, code: string) =>
      String.fromCharCode(Number.parseInt(code, 8)),
    ),
  );
  const all = allRoots(roots);
  const places = new Set(all);
  for (const path of [...all, ...fixed])
    for (const root of all.filter((each) => path.startsWith(`${each}/`)))
      for (let folder = path; folder !== root; folder = dirname(folder))
        if ((await stat(folder).catch(() => undefined))?.isDirectory() === true) places.add(folder);
  return [...places].toSorted((one, other) => one.length - other.length);
}

/** The innermost of the folders that a path lies in. */
function innermost(folders: readonly string[], path: string): string {
  const around = folders.filter((folder) => path === folder || path.startsWith(`${folder}/`));
  return around.reduce((one, other) => (other.length > one.length ? other : one), '');
}

const rootOf = (roots: RootFolders, path: string) => innermost(allRoots(roots), path);

/** Checks and unpacks all files into `staging` folders. @throws {RequestError} that says what is wrong. */
async function unpack(
  file: string,
  {
    roots,
    places,
    staging,
  }: { readonly roots: RootFolders; readonly places: readonly string[]; readonly staging: string },
) {
  let zip: OpenedZip | undefined;
  try {
    zip = await openPromise(file, { lazyEntries: true, autoClose: false });
    let at: string | undefined;
    let count = 0;
    /** The Discord ids in file names: each person in the backup has a folder. */
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
      const { path } = locate(roots, name.replace(/^data\//u, ''));
      const place = innermost(places, path);
      await unpackEntry(zip, entry, join(place, staging, path.slice(place.length)));
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

/** @throws {RequestError} where a folder is not empty. */
async function refuseToReplace(places: readonly string[]): Promise<void> {
  for (const place of places) {
    const [found] = await existingIn(place, places);
    if (found === undefined) continue;
    throw new RequestError(
      `${join(place, found)} is there already, and nothing was changed. Add --replace to put the backup in place of what ${place} holds.`,
    );
  }
}

/** What can be moved out of a folder, apart from hidden files. */
async function existingIn(place: string, places: readonly string[]): Promise<readonly string[]> {
  const names = await readdir(place);
  // A file system of its own has the last.
  return names.filter(
    (name) => !name.startsWith('.') && !places.includes(join(place, name)) && name !== 'lost+found',
  );
}

/** Moves the contents of all places to `aside`, and those of `staging` there. @throws {RequestError} with everything as it was, or where it is. */
async function exchange(places: readonly string[], staging: string, aside: string): Promise<void> {
  const moved: [from: string, to: string][] = [];
  async function move(from: string, to: string): Promise<void> {
    await rename(from, to);
    moved.push([from, to]);
  }
  try {
    for (const place of places) {
      const existing = await existingIn(place, places);
      if (existing.length > 0) await mkdir(join(place, aside), { mode: 0o700 });
      for (const name of existing) await move(join(place, name), join(place, aside, name));
    }
    for (const place of places) {
      const staged = (await readdir(join(place, staging)).catch(() => [])).filter(
        (name) => !places.includes(join(place, name)),
      );
      // Whom to erase again comes before what they had.
      for (const name of staged.toSorted((one, other) => Number(isFirst(other)) - Number(isFirst(one))))
        await move(join(place, staging, name), join(place, name));
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const lost = new Set<string>();
    for (const [from, to] of moved.toReversed())
      await rename(to, from).catch(() => lost.add(to.includes(aside) ? to : from));
    if (lost.size === 0)
      for (const place of places) await rm(join(place, aside), { recursive: true, force: true });
    const outcome =
      lost.size === 0 ? 'everything is as it was' : `this could not be moved back: ${[...lost].join(', ')}`;
    throw new RequestError(`The backup could not be put in place, and ${outcome} (${reason})`, {
      cause: error,
    });
  }
}

const isFirst = (name: string): boolean => name === erasuresKey || name === changesFolder;

/** Also what a restore left that was killed. */
async function removeSetAside(place: string): Promise<void> {
  for (const name of await readdir(place))
    if (/^\.(?:replaced|restoring)-[0-9a-f]{12}$/u.test(name))
      await rm(join(place, name), { recursive: true, force: true });
}

/**
 * The present data folder's hashes of people who had everything erased [K11], with those that a restore set aside
 * that was killed. @throws {RequestError} where they cannot be read: those whom they name would be back.
 */
async function erasuresIn({ data }: RootFolders): Promise<readonly ErasureList[]> {
  const left = (await readdir(data)).filter((name) => /^\.(?:replaced|restoring)-/u.test(name));
  const found = await Promise.all(['', ...left].map((folder) => erasuresAt(join(data, folder, erasuresKey))));
  return found.flat().reduce(withList, []);
}

/** As the store reads a document, by its copy where it is damaged [S4]. */
async function erasuresAt(file: string): Promise<readonly ErasureList[]> {
  const [text, copy] = await Promise.all(
    [file, `${file}.bak`].map((path) => unlessMissing(readFile(path, 'utf8'))),
  );
  if (text === undefined) return [];
  try {
    for (const each of [text, copy ?? '']) {
      const parsed = parseDocument(file, each, erasuresKind);
      if (parsed.outcome === 'valid') return parsed.value.lists;
    }
  } catch (error) {
    if (!(error instanceof NewerVersionError)) throw error;
    throw new RequestError(
      `${error.message}, and nothing was changed. Restore with the version that wrote it.`,
      {
        cause: error,
      },
    );
  }
  throw new RequestError(
    `${file} is damaged, so that it cannot be known who had everything erased since the backup, and nothing was changed. Put it right, or remove it to restore them too.`,
  );
}

/** Has the restored folder know who had everything erased since, and erase it. Resolves with how many people. */
async function stageErasures(
  lists: readonly ErasureList[],
  { ids, at: moment }: Awaited<ReturnType<typeof unpack>>,
  staged: string,
): Promise<number> {
  if (lists.length === 0) return 0;
  const own = await erasuresAt(join(staged, erasuresKey));
  await mkdir(join(staged, changesFolder), { recursive: true, mode: 0o700 });
  const document = { version: 1 as const, lists: lists.reduce(withList, own) };
  const onDisk = { mode: 0o600, flush: true };
  await writeFile(join(staged, erasuresKey), formatDocument(document), onDisk);
  const erased = [...ids].flatMap((userId) => {
    const at = lists.map((list) => erasedAtIn(list, userId)).reduce(later, undefined);
    return at === undefined || at <= moment ? [] : [emptyRecord(userId, at, { kind: 'erased', at })];
  });
  // What else was to be done of them is pointless then.
  for (const record of erased)
    await writeFile(
      join(staged, withheldKey(record.userId)),
      formatDocument({ version: 1 as const, records: [record] }),
      onDisk,
    );
  return erased.length;
}

/** Erases again what people had erased after the backup was made. Resolves with a report. */
async function eraseAgain(people: number, environment: Environment): Promise<string> {
  const { memory, close } = await openMemory(environment);
  try {
    await memory.changes.finish();
  } finally {
    await close();
  }
  return `Erased again what ${people === 1 ? 'one person' : `${people} people`} had erased since.\n`;
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
