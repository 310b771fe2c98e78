import type { BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { NewerVersionError, StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, SetAside, Versioned } from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import { checkedDocument, formatDocument, parseDocument, type ParsedDocument } from '../document-text.ts';
import type { Disk } from './disk.ts';
import { unlessMissing, type FileSystem } from './file-system.ts';
import type { KeyLocks } from '../key-locks.ts';
import { backupOf } from './paths.ts';
import type { Quarantine } from './quarantine.ts';
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

/** An unreadable file changed within so long may be half saved by an editor [S5]. */
export const editingMs = 2000;
/** How long a file that keeps changing is waited for. */
const longestEditMs = 5000;
const lookAgainMs = 100;

/** How often a change is made again because a person saved the file meanwhile. */
const maxConflicts = 10;

const textKind = {};

/** Failures are the file system's or `StoreError`. */
export function createDocuments(
  parts: FileParts & {
    readonly clock: Clock;
    readonly onSetAside: (file: SetAside) => void;
  },
  readOnly: boolean,
) {
  const { fileSystem, disk, locks, pathOf, quarantine, logger } = parts;
  const reader = createFileReader(fileSystem);

  function load<T extends Versioned>(key: string, path: string, kind: DocumentKind<T>) {
    return reader.read(key, path, kind, (bytes) => parseBytes(key, bytes, kind));
  }

  async function loadBackup<T extends Versioned>(key: string, path: string, kind: DocumentKind<T>) {
    const content = await reader.read(key, backupOf(path), {}, (bytes) => ({
      bytes,
      parsed: parseBytes(key, bytes, kind),
    }));
    return content?.value;
  }

  /** Waits while an unusable file was changed lately. Rejects with `StoreError` where that does not end. */
  function createEditWait(key: string, path: string) {
    const end = performance.now() + longestEditMs;
    return async (): Promise<'waited' | 'stands'> => {
      const stats = await unlessMissing(fileSystem.lstat(path));
      const age = stats === undefined ? editingMs : Date.now() - Number(stats.mtimeMs);
      if (age < 0 || age >= editingMs) return 'stands';
      if (performance.now() > end) throw new StoreError(`${key} is being edited`, key);
      await setTimeout(Math.min(editingMs - age, lookAgainMs));
      return 'waited';
    };
  }

  async function tellSetAside(key: string, copy?: string): Promise<void> {
    const stats = copy === undefined ? undefined : await unlessMissing(fileSystem.lstat(copy));
    const copyFrom = stats && new Date(Number(stats.mtimeMs)).toISOString();
    parts.onSetAside({ key, at: parts.clock().toISOString(), ...(copyFrom !== undefined && { copyFrom }) });
  }

  /** Recovers the document if need be, so only while the key's lock is held. */
  async function loadSound<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
  ): Promise<SoundDocument<T> | undefined> {
    const waitForEdit = createEditWait(key, path);
    for (;;) {
      const content = await load(key, path, kind);
      if (content === undefined) return undefined;
      const { value: parsed, fingerprint } = content;
      if (parsed.outcome === 'valid') return { value: parsed.value, fingerprint };
      if ((await waitForEdit()) === 'stands')
        await recover(key, path, kind, { reason: parsed.reason, fingerprint });
    }
  }

  async function recover<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
    damaged: { readonly reason: string; readonly fingerprint: string },
  ): Promise<void> {
    // Read first: a copy of a newer version rejects before anything is touched.
    const copy = await loadBackup(key, path, kind);
    const kept = await quarantine.keep(key, path);
    const report = { key, reason: damaged.reason, quarantine: kept };
    const isExpected = isState(damaged.fingerprint);
    if (copy?.parsed.outcome === 'valid') {
      const { bytes } = copy;
      const written = await disk.replaceFile({ key, path, bytes, isExpected });
      if (written === undefined) return;
      await tellSetAside(key, backupOf(path));
      logger.error('unreadable document moved to quarantine, its last good copy is used', report);
      return;
    }
    if (copy !== undefined) await quarantine.keep(`${key}.bak`, backupOf(path));
    if (!isExpected(await unlessMissing(fileSystem.lstat(path)))) return;
    await unlessMissing(fileSystem.unlink(path));
    await unlessMissing(fileSystem.unlink(backupOf(path)));
    await disk.syncFolder(dirname(path));
    await tellSetAside(key);
    logger.error('unreadable document moved to quarantine, there is no good copy', report);
  }

  async function read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined> {
    const path = await pathOf(key);
    const parsed = (await load(key, path, kind))?.value;
    if (parsed === undefined) return undefined;
    if (parsed.outcome === 'valid') return parsed.value;
    if (!readOnly) {
      try {
        return await locks.run(key, async () => (await loadSound(key, path, kind))?.value);
      } catch (error) {
        if (error instanceof NewerVersionError) throw error;
        logger.error('unreadable document could not be moved to quarantine', { key, error });
      }
    }
    const backup = (await loadBackup(key, path, kind))?.parsed;
    const lastGood = backup?.outcome === 'valid' ? backup.value : undefined;
    const report = { key, reason: parsed.reason, lastGoodCopyUsed: lastGood !== undefined };
    logger.warn('unreadable document left where it is', report);
    return lastGood;
  }

  /** Why the file would go to quarantine; `undefined` where it is in order. Changes nothing. */
  async function damage<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
  ): Promise<string | undefined> {
    const parsed = (await load(key, await pathOf(key), kind))?.value;
    return parsed?.outcome === 'damaged' ? parsed.reason : undefined;
  }

  async function update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    erase: () => boolean,
  ): Promise<T | undefined> {
    return locks.run(key, async () => {
      const path = await pathOf(key);
      for (let attempt = 1; attempt <= maxConflicts; attempt += 1) {
        const current = await loadSound(key, path, kind);
        const next = change(current?.value) ?? current?.value;
        const isErasing = erase();
        if (!isErasing && (next === undefined || next === current?.value)) return next;
        // The copies first: after a kill in between, nobody would ask for them again.
        if (isErasing) await quarantine.eraseCopies(key);
        if (next === undefined) {
          await disk.removeFile(path);
          return undefined;
        }
        const value = checkedDocument(key, kind, next);
        const written = await disk.replaceFile({
          key,
          path,
          bytes: Buffer.from(formatDocument(value)),
          hasBackup: true,
          isErasing,
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
    const path = await pathOf(key);
    const waitForEdit = createEditWait(key, path);
    for (;;) {
      const content = await reader.read(key, path, textKind, decodeText);
      // Any text can be read, but an editor may have emptied or half written this one.
      const isWhole = content === undefined || (content.value !== '' && !content.value.includes('\ufffd'));
      if (isWhole || content.isOwn) return content?.value;
      try {
        if ((await waitForEdit()) === 'stands') return content.value;
      } catch {
        return content.value;
      }
    }
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

  return { read, update, readText, writeText, damage };
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
