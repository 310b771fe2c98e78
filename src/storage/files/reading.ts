import { constants, type BigIntStats } from 'node:fs';
import { dirname, join } from 'node:path';
import { LRUCache } from 'lru-cache';
import pLimit from 'p-limit';
import { StoreError } from '../../core/errors.ts';
import type { StoredFile } from '../../core/store.ts';
import { encodingOf } from '../../core/text.ts';
import { filesBelow, readBytes, unlessMissing, withFile, type FileSystem } from './file-system.ts';
import { isSegment } from '../keys.ts';
import { locate, locateFolders, wayTo, type Location, type RootFolders } from './paths.ts';

/** What a file's content was made into, and of which state of the file. */
export interface FileContent<T> {
  readonly value: T;
  readonly fingerprint: string;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
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

  function remember(path: string, kind: object, stats: BigIntStats, value: unknown): void {
    cache.set(path, { ...stateOf(stats), kind, value, bytes: Number(stats.size) });
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
      return known as FileContent<T>;
    }
    const opening = fileSystem.open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const bytes = await unlessMissing(
      withFile(opening, async (file) => readBytes(file, 0, Number((await file.stat()).size))),
    );
    if (bytes === undefined) return undefined;
    const value = parse(bytes);
    // What changes while it is read has other stats by the next read.
    const isSettled = Math.abs(Date.now() - Number(stats.mtimeMs)) > timeResolutionMs;
    if (isSettled) remember(path, kind, stats, value);
    return { ...stateOf(stats), value };
  }

  return { read, remember };
}

interface CachedContent extends FileContent<unknown> {
  readonly kind: object;
  readonly bytes: number;
}

function stateOf(stats: BigIntStats) {
  return { fingerprint: fingerprintOf(stats), changedAt: Number(stats.mtimeMs) };
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

/** Where there may be very many files, others' reads wait behind no more than these. */
const looksAtOnce = 32;

export async function listFolders(fileSystem: FileSystem, { root, path }: Location, name: string) {
  const isStraight = (await wayTo(fileSystem, root, path)) === 'straight';
  const entries = (isStraight ? await unlessMissing(fileSystem.readdir(path)) : undefined) ?? [];
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  return pLimit(looksAtOnce).map(folders, async (folder) => {
    const stats = await unlessMissing(fileSystem.lstat(join(path, folder.name, name)));
    return { name: folder.name, changedAt: Number(stats?.mtimeMs ?? 0) };
  });
}

/** As `Store.list` says; without links, nor what lies behind one. */
export async function listFiles(
  fileSystem: FileSystem,
  roots: RootFolders,
  folder: string,
): Promise<readonly StoredFile[]> {
  const found: StoredFile[] = [];
  for (const { root, path: top } of locateFolders(roots, folder)) {
    if ((await wayTo(fileSystem, root, top)) !== 'straight') continue;
    const keyOf = (path: string) => folder + path.slice(top.length);
    const isLeftOut = (name: string, path: string) => !isSegment(name, keyOf(dirname(path)));
    for await (const path of filesBelow(fileSystem, top, isLeftOut)) {
      // A layer's folder that was moved may have left files behind, which no key reads.
      if (locate(roots, keyOf(path)).path !== path) continue;
      const stats = await unlessMissing(fileSystem.lstat(path));
      if (stats !== undefined)
        found.push({ path: keyOf(path).slice(folder.length + 1), bytes: Number(stats.size) });
    }
  }
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
