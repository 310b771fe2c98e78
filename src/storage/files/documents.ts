import type { BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { NewerVersionError, StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, ErasingOption, Versioned } from '../../core/store.ts';
import { parseJson } from '../../core/text.ts';
import type { Disk } from './disk.ts';
import { unlessMissing, type FileSystem } from './file-system.ts';
import type { KeyLocks } from './key-locks.ts';
import { backupOf } from './paths.ts';
import type { Quarantine } from './quarantine.ts';
import { createFileReader, decodeText, fingerprintOf, type FileContent } from './reading.ts';

/** What documents and logs are made with. */
export interface FileParts {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly locks: KeyLocks;
  readonly pathOf: (key: string) => Promise<string>;
  readonly quarantine: Quarantine;
  readonly logger: Logger;
}

/** How long an unreadable file is left alone after its last change: an editor may be in the middle of saving it. */
const editingMs = 200;

/** How often a change is made again because a person saved the file meanwhile. */
const maxConflicts = 10;

const textKind = {};

/** JSON documents and text files; failures are those of the file system or `StoreError`. */
export function createDocuments(parts: FileParts, readOnly: boolean) {
  const { fileSystem, disk, locks, pathOf, quarantine, logger } = parts;
  const reader = createFileReader(fileSystem);

  function load<T extends Versioned>(key: string, path: string, kind: DocumentKind<T>) {
    return reader.read(key, path, kind, (bytes) => parseDocument(key, decodeText(bytes), kind));
  }

  async function loadBackup<T extends Versioned>(key: string, path: string, kind: DocumentKind<T>) {
    const content = await reader.read(key, backupOf(path), {}, (bytes) => ({
      bytes,
      parsed: parseDocument(key, decodeText(bytes), kind),
    }));
    return content?.value;
  }

  /** The document in good order; only while the key's lock is held, since it may have to be put in order first. */
  async function loadSound<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
  ): Promise<FileContent<T> | undefined> {
    for (;;) {
      const content = await load(key, path, kind);
      if (content === undefined) return undefined;
      const { value: parsed, fingerprint } = content;
      if (parsed.outcome === 'valid') return { value: parsed.value, fingerprint };
      const stats = await unlessMissing(fileSystem.lstat(path));
      const age = stats === undefined ? editingMs : Date.now() - Number(stats.mtimeMs);
      if (age >= 0 && age < editingMs) await setTimeout(editingMs - age);
      else await recover(key, path, kind, { reason: parsed.reason, fingerprint });
    }
  }

  async function recover<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
    damaged: { readonly reason: string; readonly fingerprint: string },
  ): Promise<void> {
    // Read first: where the copy is of a newer version, this rejects and nothing was touched.
    const backup = await loadBackup(key, path, kind);
    const kept = await quarantine.keep(key, path);
    const report = { key, reason: damaged.reason, quarantine: kept };
    if (backup?.parsed.outcome === 'valid') {
      const isExpected = isState(damaged.fingerprint);
      await disk.replaceFile({ key, path, bytes: backup.bytes, isExpected });
      logger.error('unreadable document moved to quarantine, its last good copy is used', report);
      return;
    }
    if (backup !== undefined) await quarantine.keep(`${key}.bak`, backupOf(path));
    if (!isState(damaged.fingerprint)(await unlessMissing(fileSystem.lstat(path)))) return;
    await unlessMissing(fileSystem.unlink(path));
    await unlessMissing(fileSystem.unlink(backupOf(path)));
    await disk.syncFolder(dirname(path));
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

  async function update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    { erase: isErasing = false }: { readonly erase?: boolean | (() => boolean) } = {},
  ): Promise<T | undefined> {
    return locks.run(key, async () => {
      const path = await pathOf(key);
      for (let attempt = 1; attempt <= maxConflicts; attempt += 1) {
        const current = await loadSound(key, path, kind);
        const next = change(current?.value) ?? current?.value;
        const isSame = next === current?.value;
        const erase = typeof isErasing === 'function' ? isErasing() : isErasing;
        if (isSame && !erase) return next;
        if (next === undefined) {
          await quarantine.eraseCopies(key, path);
          return undefined;
        }
        const text = formatDocument(next);
        const parsed = parseDocument(key, text, kind);
        if (parsed.outcome === 'damaged')
          throw new StoreError(`${key} was not stored: ${parsed.reason}`, key);
        const bytes = Buffer.from(text);
        // The copies first: were it the other way round, a kill in between would leave what is to go, and nobody who asks again.
        if (erase) await quarantine.eraseCopies(key, path, bytes);
        if (isSame) return next;
        const written = await disk.replaceFile({
          key,
          path,
          bytes,
          former: erase ? 'erased' : 'kept',
          isExpected: isState(current?.fingerprint),
        });
        if (written === undefined) continue;
        reader.remember(path, kind, written, parsed);
        return parsed.value;
      }
      throw new StoreError(`${key} was not stored: it kept being changed from outside`, key);
    });
  }

  async function readText(key: string): Promise<string | undefined> {
    return (await reader.read(key, await pathOf(key), textKind, decodeText))?.value;
  }

  async function writeText(key: string, text: string, { erase = false }: ErasingOption = {}): Promise<void> {
    await locks.run(key, async () => {
      const path = await pathOf(key);
      const bytes = Buffer.from(text);
      if (erase) await quarantine.eraseCopies(key, path, bytes);
      const written = await disk.replaceFile({ key, path, bytes, former: erase ? 'erased' : 'kept' });
      if (written !== undefined) reader.remember(path, textKind, written, decodeText(bytes));
    });
  }

  return { read, update, readText, writeText };
}

function isState(fingerprint: string | undefined): (stats: BigIntStats | undefined) => boolean {
  return (stats) => (stats === undefined ? undefined : fingerprintOf(stats)) === fingerprint;
}

/** A document's text, understood or not. `reason` holds no content: it goes into the log. */
type ParsedDocument<T> =
  | { readonly outcome: 'valid'; readonly value: T }
  | { readonly outcome: 'damaged'; readonly reason: string };

/**
 * Reads a document's text; the value is frozen, down to the last object [S4].
 * @throws {NewerVersionError} where a newer program wrote it, whatever its shape.
 */
function parseDocument<T extends Versioned>(
  key: string,
  text: string,
  kind: DocumentKind<T>,
): ParsedDocument<T> {
  let data: unknown;
  try {
    data = parseJson(text);
  } catch {
    return { outcome: 'damaged', reason: text.trim() === '' ? 'empty' : 'not JSON' };
  }
  const version = versionOf(data);
  if (version !== undefined && version > kind.version)
    throw new NewerVersionError(key, version, kind.version);
  const parsed = kind.schema.safeParse(data);
  if (parsed.success) return { outcome: 'valid', value: freezeDeep(parsed.data) };
  const codes = new Set(parsed.error.issues.map((issue) => issue.code));
  return { outcome: 'damaged', reason: `refused by the schema (${[...codes].join(', ')})` };
}

/** A document's text as it is stored: indented, because people read and edit it [S5]. */
function formatDocument(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}

function versionOf(data: unknown): number | undefined {
  if (typeof data !== 'object' || data === null || !('version' in data)) return undefined;
  return typeof data.version === 'number' ? data.version : undefined;
}

function freezeDeep<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const part of Object.values(value)) freezeDeep(part);
  return value;
}
