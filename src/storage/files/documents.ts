import type { BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { NewerVersionError, StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, ErasingOption } from '../../core/store.ts';
import { unlessMissing } from './file-error.ts';
import type { Disk } from './disk.ts';
import type { FileContent, FileReader } from './file-reader.ts';
import { decodeText, fingerprintOf } from './file-reader.ts';
import type { FileSystem } from './file-system.ts';
import type { KeyLocks } from './key-locks.ts';
import { backupOf } from './keys.ts';
import type { PathOf } from './links.ts';
import { formatDocument, parseDocument } from './parse-document.ts';
import type { Quarantine } from './quarantine.ts';

interface Versioned {
  readonly version: number;
}

/** JSON documents as files; failures are those of the file system or `StoreError`. */
export interface Documents {
  read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined>;
  update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    options?: ErasingOption,
  ): Promise<T | undefined>;
}

interface Dependencies {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly files: FileReader;
  readonly locks: KeyLocks;
  readonly pathOf: PathOf;
  readonly quarantine: Quarantine;
  readonly logger: Logger;
  readonly readOnly: boolean;
}

/** How long an unreadable file is left alone after its last change: an editor may be in the middle of saving it. */
const editingMs = 200;

/** How often a change is made again because a person saved the file meanwhile. */
const maxConflicts = 10;

export function createDocuments({
  fileSystem,
  disk,
  files,
  locks,
  pathOf,
  quarantine,
  logger,
  readOnly,
}: Dependencies): Documents {
  function load<T extends Versioned>(key: string, path: string, kind: DocumentKind<T>) {
    return files.read({ key, path, kind, parse: (bytes) => parseDocument(key, decodeText(bytes), kind) });
  }

  async function loadBackup<T extends Versioned>(key: string, path: string, kind: DocumentKind<T>) {
    const content = await files.read({
      key,
      path: backupOf(path),
      kind: {},
      parse: (bytes) => ({ bytes, parsed: parseDocument(key, decodeText(bytes), kind) }),
    });
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

  return {
    async read(key, kind) {
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
    },

    update: (key, kind, change, { erase = false } = {}) =>
      locks.run(key, async () => {
        const path = await pathOf(key);
        for (let attempt = 1; attempt <= maxConflicts; attempt += 1) {
          const current = await loadSound(key, path, kind);
          const next = change(current?.value) ?? current?.value;
          const isSame = next === current?.value;
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
          files.remember(path, kind, written, parsed);
          return parsed.value;
        }
        throw new StoreError(`${key} was not stored: it kept being changed from outside`, key);
      }),
  };
}

function isState(fingerprint: string | undefined): (stats: BigIntStats | undefined) => boolean {
  return (stats) => (stats === undefined ? undefined : fingerprintOf(stats)) === fingerprint;
}
