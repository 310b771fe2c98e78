import type { BigIntStats } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { StoreError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, ErasingOption, SetAside, Versioned } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { checkedDocument, formatDocument, parseDocument, type ParsedDocument } from '../document-text.ts';
import type { Disk } from './disk.ts';
import { filesBelow, unlessMissing, type FileSystem } from './file-system.ts';
import type { KeyLocks } from '../key-locks.ts';
import { backupOf, locate, locateQuarantine, type RootFolders } from './paths.ts';
import { createFileReader, decodeExactly, decodeText, fingerprintOf } from './reading.ts';

export interface FileParts {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly locks: KeyLocks;
  /** Rejects with `StoreError` where a folder on the way is a link. */
  readonly pathOf: (key: string) => Promise<string>;
  readonly quarantine: Quarantine;
  readonly logger: Logger;
}

/** A damaged document that changed within so long may be half saved by an editor [S5]. */
const savingMs = 2000;

/** How often a change is made again because a person saved the file meanwhile. */
const maxConflicts = 10;

const textKind = {};

/** Failures are the file system's or `StoreError`. */
export function createDocuments(
  parts: FileParts & {
    readonly clock: Clock;
    readonly onSetAside: (file: SetAside) => void;
    /** Ends what waits for a second look. */
    readonly closing: AbortSignal;
  },
  readOnly: boolean,
) {
  const { fileSystem, disk, locks, pathOf, quarantine, logger } = parts;
  const reader = createFileReader(fileSystem);
  /** Keys whose second look no caller waits for. */
  const lookedAt = new Set<string>();

  function load<T extends Versioned>(key: string, path: string, kind: DocumentKind<T>) {
    return reader.read(key, path, kind, (bytes) => parseBytes(key, bytes, kind));
  }

  async function bytesOf(key: string, path: string): Promise<Buffer | undefined> {
    return (await reader.read(key, path, {}, (bytes) => bytes))?.value;
  }

  async function waitOpen(key: string, ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: parts.closing }).catch(() => {
      throw new StoreError(`${key} cannot be read, and the store is closed`, key);
    });
  }

  /** Looks again at a damaged document, and recovers it if need be, so only while the key's lock is held. */
  async function loadSound<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
  ): Promise<SoundDocument<T> | undefined> {
    let content = await load(key, path, kind);
    if (content?.value.outcome === 'damaged') {
      const waitMs = untilSaved(content.changedAt);
      if (waitMs > 0) await waitOpen(key, waitMs);
      content = await load(key, path, kind);
    }
    if (content?.value.outcome === 'damaged') {
      await recover(key, path, kind, { reason: content.value.reason, fingerprint: content.fingerprint });
      content = await load(key, path, kind);
    }
    if (content === undefined) return undefined;
    const { value: parsed, fingerprint } = content;
    if (parsed.outcome === 'damaged') throw new StoreError(`${key} is being changed from outside`, key);
    return { value: parsed.value, fingerprint };
  }

  async function recover<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
    damaged: { readonly reason: string; readonly fingerprint: string },
  ): Promise<void> {
    const backup = await bytesOf(key, backupOf(path));
    // A copy of a newer version rejects before anything is touched.
    const isUsable = backup !== undefined && parseBytes(key, backup, kind).outcome === 'valid';
    const bytes = await bytesOf(key, path);
    const isExpected = isState(damaged.fingerprint);
    if (bytes === undefined || !isExpected(await unlessMissing(fileSystem.lstat(path)))) return;
    const report = { key, reason: damaged.reason, quarantine: await quarantine.keep(key, bytes) };
    if (isUsable) {
      if ((await disk.replaceFile({ key, path, bytes: backup, isExpected })) === undefined) return;
      logger.error('unreadable document moved to quarantine, its last good copy is used', report);
    } else {
      await fileSystem.unlink(path);
      await disk.syncFolder(dirname(path));
      logger.error('unreadable document moved to quarantine, there is no good copy', report);
    }
    const stats = isUsable ? await unlessMissing(fileSystem.lstat(backupOf(path))) : undefined;
    const copyFrom = stats && new Date(Number(stats.mtimeMs)).toISOString();
    parts.onSetAside({ key, at: parts.clock().toISOString(), ...(copyFrom !== undefined && { copyFrom }) });
  }

  async function read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined> {
    const path = await pathOf(key);
    const content = await load(key, path, kind);
    if (content === undefined) return undefined;
    if (content.value.outcome === 'valid') return content.value.value;
    const look = () => locks.run(key, async () => (await loadSound(key, path, kind))?.value);
    if (!readOnly && untilSaved(content.changedAt) === 0) return look();
    if (!readOnly && !lookedAt.has(key)) {
      lookedAt.add(key);
      look()
        .catch((error: unknown) => {
          if (!parts.closing.aborted) logger.error('unreadable document left where it is', { key, error });
        })
        .finally(() => lookedAt.delete(key));
    }
    throw new StoreError(`${key} cannot be read: ${content.value.reason}`, key);
  }

  async function update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    { erase = false }: ErasingOption = {},
  ): Promise<T | undefined> {
    return locks.run(key, async () => {
      const path = await pathOf(key);
      for (let attempt = 1; attempt <= maxConflicts; attempt += 1) {
        const current = await loadSound(key, path, kind);
        const next = change(current?.value) ?? current?.value;
        const isErasing = typeof erase === 'function' ? erase() : erase;
        if (!isErasing && (next === undefined || next === current?.value)) return next;
        // The copies first: after a kill in between, nobody would ask for them again.
        if (isErasing) await quarantine.eraseCopies(key);
        if (next === undefined) {
          await disk.removeFile(path);
          return undefined;
        }
        const value = checkedDocument(key, kind, next);
        const bytes = Buffer.from(formatDocument(value));
        const previous = current && !isErasing ? await bytesOf(key, path) : undefined;
        if (previous !== undefined) await disk.writeBackup(key, path, previous);
        if (isErasing) await disk.replaceFile({ key, path: backupOf(path), bytes });
        const written = await disk.replaceFile({
          key,
          path,
          bytes,
          isExpected: isState(current?.fingerprint),
        });
        if (written === undefined) continue;
        reader.remember(path, kind, written, { outcome: 'valid', value });
        return value;
      }
      throw new StoreError(`${key} was not stored: it kept being changed from outside`, key);
    });
  }

  async function readText(key: string): Promise<string | undefined> {
    return (await reader.read(key, await pathOf(key), textKind, decodeText))?.value;
  }

  async function writeText(key: string, text: string): Promise<void> {
    await locks.run(key, async () => {
      const path = await pathOf(key);
      const bytes = Buffer.from(text);
      await quarantine.eraseCopies(key);
      const written = await disk.replaceFile({ key, path, bytes });
      if (written !== undefined) reader.remember(path, textKind, written, decodeText(bytes));
    });
  }

  return { read, update, readText, writeText };
}

/** Milliseconds until a file that changed at this moment counts as saved. */
function untilSaved(changedAt: number): number {
  const age = Date.now() - changedAt;
  return age >= 0 && age < savingMs ? savingMs - age : 0;
}

/** @throws {NewerVersionError} */
function parseBytes<T extends Versioned>(
  key: string,
  bytes: Buffer,
  kind: DocumentKind<T>,
): ParsedDocument<T> {
  let text: string;
  try {
    text = decodeExactly(bytes);
  } catch {
    return { outcome: 'damaged', reason: 'not UTF-8' };
  }
  return parseDocument(key, text, kind);
}

function isState(fingerprint: string | undefined): (stats: BigIntStats | undefined) => boolean {
  return (stats) => (stats === undefined ? undefined : fingerprintOf(stats)) === fingerprint;
}

interface SoundDocument<T> {
  readonly value: T;
  readonly fingerprint: string;
}

/** What follows a key in a quarantined copy's name. */
const copyEnding = /\.(\d{8}T\d{9}Z)$/u;

type Quarantine = ReturnType<typeof createQuarantine>;

/** Keeps unreadable documents for a person to look at [S4], for a while, under their key with a time stamp. */
export function createQuarantine({
  fileSystem,
  disk,
  roots,
  clock,
}: {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly roots: RootFolders;
  readonly clock: Clock;
}) {
  const folder = locateQuarantine(roots, '').path;

  /** Resolves with the copy's path, on disk by then. */
  async function keep(key: string, bytes: Buffer): Promise<string> {
    await removeOld();
    const path = `${locateQuarantine(roots, key).path}.${stampOf(clock())}`;
    await disk.replaceFile({ key, path, bytes });
    return path;
  }

  async function removeOld(): Promise<void> {
    const oldest = stampOf(new Date(clock().getTime() - limits.quarantine.days * 24 * 60 * 60 * 1000));
    for await (const path of filesBelow(fileSystem, folder)) {
      const [, stamp] = copyEnding.exec(path) ?? [];
      if (stamp !== undefined && stamp < oldest) await disk.removeFile(path);
    }
  }

  /** Erases a key's copies in quarantine and temporary files [S7]; may be called again after a rejection. */
  async function eraseCopies(key: string): Promise<void> {
    await disk.removeStraysOf(locate(roots, key).path);
    const { path } = locateQuarantine(roots, key);
    const entries = (await unlessMissing(fileSystem.readdir(dirname(path)))) ?? [];
    for (const { name } of entries)
      // Also one that was on its way there.
      if (name.replace(/^\.|\.next(?:\.\d+)?$/gu, '').replace(copyEnding, '') === basename(path))
        await disk.removeFile(join(dirname(path), name));
  }

  /** Names of the copies, as below the folder. */
  async function list(): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const path of filesBelow(fileSystem, folder, (name) => name.startsWith('.')))
      found.push(relative(folder, path));
    return found;
  }

  return { keep, removeOld, eraseCopies, list };
}

/** Such as `20260115T120000000Z`: the later, the greater. */
function stampOf(date: Date): string {
  return date.toISOString().replaceAll(/[-:.]/g, '');
}
