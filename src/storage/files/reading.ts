import { constants, type BigIntStats, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { StoreError } from '../../core/errors.ts';
import type { StoredFile } from '../../core/store.ts';
import { readBytes, unlessMissing, withFile, type FileSystem } from './file-system.ts';
import { isSegment } from '../keys.ts';
import { locate, locateFolders, type Location, type RootFolders, type Ways } from './paths.ts';

/** What a file's content was made into, and of which state of the file. */
export interface FileContent<T> {
  readonly value: T;
  readonly fingerprint: string;
  /** The store itself wrote it, as far as it remembers. */
  readonly isOwn: boolean;
}

const cacheBytes = 32 * 1024 * 1024;
/** Changes this close together can leave equal stats, so what was just changed is not cached yet. */
const timeResolutionMs = 20;

/** Reads whole files through a bounded cache that is checked against the file's stats at each read [S5]. */
export function createFileReader(fileSystem: FileSystem) {
  const cache = new LRUCache<string, CachedContent>({
    maxSize: cacheBytes,
    sizeCalculation: (entry) => entry.bytes + 256,
  });

  function remember(path: string, kind: object, stats: BigIntStats, value: unknown, isOwn = true): void {
    cache.set(path, { kind, fingerprint: fingerprintOf(stats), value, bytes: Number(stats.size), isOwn });
  }

  /** `undefined` where there is no file. A cached value serves its own `kind` only, and must be immutable. */
  async function read<T>(
    key: string,
    path: string,
    kind: object,
    parse: (bytes: Buffer) => T,
  ): Promise<FileContent<T> | undefined> {
    const stats = await unlessMissing(fileSystem.lstat(path));
    if (stats === undefined) return undefined;
    // Nor is a symbolic link, wherever it leads.
    if (!stats.isFile()) throw new StoreError(`${key} is not a file`, key);
    const known = cache.get(path);
    if (known?.kind === kind && known.fingerprint === fingerprintOf(stats)) {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- values of one kind are of one type
      return { value: known.value as T, fingerprint: known.fingerprint, isOwn: known.isOwn };
    }
    const content = await unlessMissing(readStable(fileSystem, key, path));
    if (content === undefined) return undefined;
    const value = parse(content.bytes);
    const isSettled = Math.abs(Date.now() - Number(content.stats.mtimeMs)) > timeResolutionMs;
    if (isSettled) remember(path, kind, content.stats, value, false);
    return { value, fingerprint: fingerprintOf(content.stats), isOwn: false };
  }

  return { read, remember };
}

interface CachedContent extends FileContent<unknown> {
  readonly kind: object;
  readonly bytes: number;
}

export function fingerprintOf(stats: BigIntStats): string {
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

/** UTF-8, or UTF-16 with a byte order mark, as editors save it; replacement characters for what is neither. */
export function decodeText(bytes: Buffer): string {
  return new TextDecoder(encodingOf(bytes)).decode(bytes);
}

/** @throws {TypeError} where the bytes are not of their encoding. */
export function decodeExactly(bytes: Buffer): string {
  return new TextDecoder(encodingOf(bytes), { fatal: true }).decode(bytes);
}

function encodingOf([first, second]: Buffer): string {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

/** Content and stats that belong together, even while an editor saves the file. */
async function readStable(
  fileSystem: FileSystem,
  key: string,
  path: string,
): Promise<{ readonly bytes: Buffer; readonly stats: BigIntStats }> {
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    const opening = fileSystem.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const content = await withFile(opening, async (file) => {
      const stats = await file.stat();
      const bytes = await readBytes(file, 0, Number(stats.size));
      const isWhole =
        bytes.length === Number(stats.size) && fingerprintOf(await file.stat()) === fingerprintOf(stats);
      return isWhole ? { bytes, stats } : undefined;
    });
    if (content !== undefined) return content;
  }
  throw new StoreError(`${key} kept changing while it was read`, key);
}

/** Where there may be very many files, others' reads wait behind no more than these. */
const looksAtOnce = 32;

interface ListingParts {
  readonly fileSystem: FileSystem;
  /** The folder itself may be a link, or lie behind one. */
  readonly ways: Ways;
}

export async function listFolders(
  { fileSystem, ways }: ListingParts,
  { root, path }: Location,
  name: string,
) {
  const isStraight = (await ways.to(root, path)) === 'straight';
  const entries = (isStraight ? await unlessMissing(fileSystem.readdir(path)) : undefined) ?? [];
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  return pLimit(looksAtOnce).map(folders, async (folder) => {
    const stats = await unlessMissing(fileSystem.lstat(join(path, folder.name, name)));
    return { name: folder.name, changedAt: Number(stats?.mtimeMs ?? 0) };
  });
}

/** As `Store.list` says; without links. */
export async function listFiles(
  { fileSystem, ways }: ListingParts,
  roots: RootFolders,
  folder: string,
): Promise<readonly StoredFile[]> {
  async function walk(key: string, path: string): Promise<StoredFile[]> {
    const entries = (await unlessMissing(fileSystem.readdir(path))) ?? [];
    const named = entries.filter((entry) => isSegment(entry.name, key));
    const found = await pLimit(looksAtOnce).map(named, (entry) =>
      visit(entry, `${key}/${entry.name}`, `${path}/${entry.name}`),
    );
    return found.flat();
  }

  async function visit(entry: Dirent, key: string, path: string): Promise<StoredFile[]> {
    if (entry.isDirectory()) return walk(key, path);
    // A layer's folder that was moved may have left files behind, which no key reads.
    if (!entry.isFile() || locate(roots, key).path !== path) return [];
    const stats = await unlessMissing(fileSystem.lstat(path));
    return stats === undefined ? [] : [{ path: key.slice(folder.length + 1), bytes: Number(stats.size) }];
  }

  const found = await Promise.all(
    locateFolders(roots, folder).map(async ({ root, path }) =>
      (await ways.to(root, path)) === 'straight' ? walk(folder, path) : [],
    ),
  );
  return found.flat().toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
