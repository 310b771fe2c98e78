import type { BigIntStats } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';

import { NewerVersionError, StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type {
  DocumentKind,
  Erasing,
  ErasingOption,
  LazyOption,
  SetAside,
  Versioned,
} from '../../core/store.ts';
import type { Clock } from '../../core/time.ts';
import {
  checkedDocument,
  formatDocument,
  parseDocument,
  parseObject,
  sound,
  type ParsedDocument,
} from '../document-text.ts';
import type { Disk } from './disk.ts';
import { unlessMissing, type FileSystem } from './file-system.ts';
import type { KeyLocks } from '../key-locks.ts';
import { backupOf } from './paths.ts';
import type { Quarantine } from './quarantine.ts';
import { patchBetween, patched, type Patch } from './patch.ts';
import { changesAfter, patchedBy, type JournalRecord } from './journal-lines.ts';
import type { Journal } from './journal.ts';
import { createFileReader, decodeExactly, decodeText, fingerprintOf } from './reading.ts';
import type { WriteBehind } from './write-behind.ts';

/** What documents and logs are made with. */
export interface FileParts {
  readonly fileSystem: FileSystem;
  readonly disk: Disk;
  readonly journal: Journal;
  readonly behind: WriteBehind;
  readonly locks: KeyLocks;
  /** At once where all folders on the way are known. Rejects with `StoreError` where one is a link. */
  readonly pathOf: (key: string) => string | Promise<string>;
  readonly quarantine: Quarantine;
  readonly logger: Logger;
}

/** How long an unreadable file is left alone after its last change, in milliseconds: an editor may be in the middle of saving it [S5]. */
const editingMs = 2000;

/** How often a change is made again because a person saved the file meanwhile. */
const maxConflicts = 10;

const textKind = {};

/** What the journal has of a document or text, and its file has not. */
interface Unwritten {
  readonly kind: object;
  readonly value: unknown;
  /** The state of the file that it follows on; `undefined` where there was none. */
  readonly base: string | undefined;
  /** The number of the newest change. */
  readonly number: number;
  /** Of a document: all changes since. */
  readonly patches: Patch[];
}

/** JSON documents and text files; failures are those of the file system or `StoreError`. */
export function createDocuments(
  parts: FileParts & {
    readonly clock: Clock;
    readonly onSetAside: (file: SetAside) => void;
    readonly longestEditMs: number;
  },
  readOnly: boolean,
) {
  const { fileSystem, disk, journal, behind, locks, pathOf, quarantine, logger } = parts;
  const reader = createFileReader(parts);
  const unwritten = new Map<string, Unwritten>();

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

  /** Waits as long as a file that cannot be used was changed lately. Rejects with `StoreError` where that does not end. */
  function createEditWait(key: string, path: string) {
    const end = performance.now() + parts.longestEditMs;
    return async (): Promise<'waited' | 'stands'> => {
      const stats = await unlessMissing(fileSystem.lstat(path));
      const age = stats === undefined ? editingMs : Date.now() - Number(stats.mtimeMs);
      disk.lookAgain();
      if (age < 0 || age >= editingMs) return 'stands';
      if (performance.now() > end) throw new StoreError(`${key} is being edited`, key);
      await setTimeout(Math.min(editingMs - age, lookAgainMs));
      disk.lookAgain();
      return 'waited';
    };
  }

  async function tellSetAside(key: string, copy?: string): Promise<void> {
    const stats = copy === undefined ? undefined : await unlessMissing(fileSystem.lstat(copy));
    parts.onSetAside({
      key,
      at: parts.clock().toISOString(),
      ...(stats && { copyFrom: new Date(Number(stats.mtimeMs)).toISOString() }),
    });
  }

  /** The document in good order; only while the key's lock is held, since it may have to be put in order first. */
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
      if (parsed.outcome === 'valid') return { ...parsed, fingerprint };
      if ((await waitForEdit()) === 'stands')
        await recover(key, path, kind, { reason: parsed.reason, fingerprint });
      disk.lookAgain();
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
      if ((await disk.replaceFile({ key, path, bytes: backup.bytes, isExpected })) === undefined) return;
      await tellSetAside(key, backupOf(path));
      logger.error('unreadable document moved to quarantine, its last good copy is used', report);
      return;
    }
    if (backup !== undefined) await quarantine.keep(`${key}.bak`, backupOf(path));
    if (!isState(damaged.fingerprint)(await unlessMissing(fileSystem.lstat(path)))) return;
    await unlessMissing(fileSystem.unlink(path));
    await unlessMissing(fileSystem.unlink(backupOf(path)));
    await disk.syncFolder(dirname(path));
    await tellSetAside(key);
    logger.error('unreadable document moved to quarantine, there is no good copy', report);
  }

  /** What the journal has of a key, if nobody else changed the file since. What cannot be written stays what holds. */
  async function readUnwritten(
    key: string,
    path: string,
    kind: object,
    waiting: Unwritten,
  ): Promise<Unwritten | undefined> {
    const isUnchanged = (await fingerprintAt(path)) === waiting.base;
    if (waiting.kind === kind && isUnchanged) return waiting;
    return (await behind.tryWriting(key)) ? undefined : waiting;
  }

  async function fingerprintAt(path: string): Promise<string | undefined> {
    const stats = await disk.glance(path);
    return stats && fingerprintOf(stats);
  }

  async function read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined> {
    const path = await pathOf(key);
    const newest = unwritten.get(key);
    const waiting = newest && (await readUnwritten(key, path, kind, newest));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- values of one kind are of one type
    if (waiting?.kind === kind) return waiting.value as T;
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

  /** Why the file would go to quarantine when it is used next; `undefined` where it is in order. Changes nothing. */
  async function damage<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
  ): Promise<string | undefined> {
    const parsed = (await load(key, await pathOf(key), kind))?.value;
    return parsed?.outcome === 'damaged' ? parsed.reason : undefined;
  }

  /** What holds, be it in the file yet or not; only while the key's lock is held. */
  async function loadPresent<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
  ): Promise<SoundDocument<T> | undefined> {
    const waiting = unwritten.get(key);
    if (waiting !== undefined) {
      const fingerprint = await fingerprintAt(path);
      if (waiting.kind === kind && fingerprint === waiting.base) {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- values of one kind are of one type
        return { value: waiting.value as T, fingerprint, isAsWritten: true };
      }
      await behind.write(key);
    }
    return loadSound(key, path, kind);
  }

  async function update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    { erase, isLazy = false }: LazyOption & { readonly erase: () => Erasing },
  ): Promise<T | undefined> {
    return locks.run(key, async () => {
      const path = await pathOf(key);
      for (let attempt = 1; attempt <= maxConflicts; attempt += 1) {
        const current = await loadPresent(key, path, kind);
        const next = change(current?.value) ?? current?.value;
        const isSame = next === current?.value;
        const erases = erase();
        if (erases === 'soon') behind.oweErasure(key, () => eraseFormer(key, kind));
        if (erases !== true && (isSame || next === undefined)) return next;
        // The change before it is in the file first: the last good copy lacks one change at most, however fast they follow each other [S4].
        if (erases !== true && (await writeEarlier(key))) continue;
        if (erases !== true && next !== undefined)
          return journalled(key, path, kind, current, next, { isLazy, erases: erases === 'soon' });
        if (await behind.settle(key)) {
          // It is in the file now, unless a person saved that meanwhile.
          if ((await loadSound(key, path, kind))?.value !== current?.value) continue;
        }
        if (next === undefined) {
          await quarantine.eraseCopies(key, path);
          return undefined;
        }
        const { value: checked } = checkedDocument(key, kind, next, current?.value);
        const bytes = Buffer.from(formatDocument(checked));
        const base = await fingerprintAt(path);
        // What was lazy before is on disk before, as where the change itself goes into the journal.
        if (!isSame) await journal.sync();
        // The copies first: were it the other way round, a kill in between would leave what is to go, and nobody who asks again.
        await quarantine.eraseCopies(key, path, bytes);
        if (isSame) return next;
        const isExpected = isState(base);
        const written = await disk.replaceFile({ key, path, bytes, former: 'erased', isExpected });
        if (written === undefined) continue;
        reader.remember(path, kind, written, sound(checked));
        return checked;
      }
      throw new StoreError(`${key} was not stored: it kept being changed from outside`, key);
    });
  }

  /** Brings into the file what the journal alone has of it; resolves with whether it did. What the disk refuses stays in the journal. */
  async function writeEarlier(key: string): Promise<boolean> {
    if (!unwritten.has(key)) return false;
    try {
      await behind.write(key);
      return true;
    } catch (error) {
      logger.debug('a file could not follow the journal, which keeps what it lacks', { key, error });
      return false;
    }
  }

  /** Erases what a document held before from its copies, and then from the journal, which has a start after a kill do it. */
  async function eraseFormer<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<void> {
    await locks.run(key, async () => {
      const path = await pathOf(key);
      await behind.write(key);
      const content = await loadSound(key, path, kind);
      await quarantine.eraseCopies(key, path, content && Buffer.from(formatDocument(content.value)));
      await behind.settle(key);
    });
  }

  /** Makes a change in the journal; the file follows. */
  async function journalled<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
    current: SoundDocument<T> | undefined,
    next: T,
    { isLazy, erases }: { readonly isLazy: boolean; readonly erases: boolean },
  ): Promise<T> {
    const { value, part } = checkedDocument(key, kind, next, current?.value);
    // A patch says nothing of what was mended or made up when the file was read.
    const patch = patchBetween(current?.isAsWritten === true ? current.value : {}, value, kind.list, part);
    const record = { kind: 'document', key, patch, ...(erases && { erases }) } as const;
    const number = await journal.commit(record, { isLazy });
    const patches = unwritten.get(key)?.patches ?? [];
    patches.push(patch);
    unwritten.set(key, { kind, value, base: current?.fingerprint, number, patches });
    behind.owe(key, () => writeDocument(key, path, kind), current?.fingerprint !== undefined);
    return value;
  }

  async function writeDocument<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
  ): Promise<void> {
    disk.lookAgain();
    for (let attempt = 1; attempt <= maxConflicts; attempt += 1) {
      const waiting = unwritten.get(key);
      if (waiting === undefined) return;
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- values of one kind are of one type
      let value = waiting.value as T;
      let former: 'kept' | undefined = 'kept';
      const base = await fingerprintAt(path);
      if (base !== waiting.base) {
        const merged = await mergedWithFile(key, path, kind, { ...waiting, value });
        if (merged === 'edited') continue;
        // What was set aside is no good copy.
        if (merged === 'set aside') former = undefined;
        else value = merged.value;
      }
      const bytes = Buffer.from(formatDocument(value));
      const isExpected = isState(base);
      const written = await replaceDocument({ key, path, bytes, former, isDeferred: true, isExpected });
      if (written === undefined) continue;
      if (former === undefined) await tellSetAside(key, path);
      reader.remember(path, kind, written, sound(value));
      await wroteFile(key, waiting.number, written);
      return;
    }
    throw new StoreError(`${key} could not be written: it kept being changed from outside`, key);
  }

  /** As `disk.replaceFile`; a document that is new is its own last good copy [S4]. */
  async function replaceDocument(replacement: Parameters<Disk['replaceFile']>[0]) {
    const { key, path, bytes, isDeferred = false, isExpected } = replacement;
    const present = await unlessMissing(fileSystem.lstat(path));
    if (present === undefined && isExpected?.(present) !== false)
      await disk.replaceFile({ key, path: backupOf(path), bytes, isDeferred });
    return disk.replaceFile(replacement);
  }

  /** What a person made of the file meanwhile, with what was acknowledged since [S5]. It is to be looked at again where it was `edited` since. */
  async function mergedWithFile<T extends Versioned>(
    key: string,
    path: string,
    kind: DocumentKind<T>,
    { value, patches }: { readonly value: T; readonly patches: readonly Patch[] },
  ): Promise<{ readonly value: T } | 'set aside' | 'edited'> {
    const waitForEdit = createEditWait(key, path);
    let edited = await load(key, path, kind);
    const { fingerprint } = edited ?? {};
    while (edited?.value.outcome === 'damaged' && (await waitForEdit()) === 'waited')
      edited = await load(key, path, kind);
    if (edited?.fingerprint !== fingerprint) return 'edited';
    if (edited === undefined) return { value };
    if (edited.value.outcome === 'valid') {
      const merged = parseDocument(key, formatDocument(patches.reduce(patched, edited.value.value)), kind);
      if (merged.outcome === 'valid') return { value: merged.value };
    }
    const kept = await quarantine.keep(key, path);
    logger.error('a document was changed from outside so that it could not be gone on with', {
      key,
      quarantine: kept,
    });
    return 'set aside';
  }

  async function wroteFile(key: string, number: number, stats: BigIntStats): Promise<void> {
    unwritten.delete(key);
    const [fingerprint, changedAt] = [fingerprintOf(stats), Number(stats.mtimeMs)];
    // Without it a start after a kill writes the file once more.
    await journal
      .note({ kind: 'written', key, upTo: number, fingerprint, changedAt })
      .catch((error: unknown) => logger.debug('the journal could not be noted in', { key, error }));
  }

  async function readText(key: string): Promise<string | undefined> {
    const path = await pathOf(key);
    const newest = unwritten.get(key);
    const waiting = newest && (await readUnwritten(key, path, textKind, newest));
    if (typeof waiting?.value === 'string') return waiting.value;
    const waitForEdit = createEditWait(key, path);
    for (;;) {
      const content = await reader.read(key, path, textKind, decodeText);
      // Every text can be read; only one that an editor has just emptied, or half written, is not what it is going to be.
      if (
        content === undefined ||
        content.isOwn ||
        (content.value !== '' && !content.value.includes('\ufffd'))
      )
        return content?.value;
      try {
        if ((await waitForEdit()) === 'stands') return content.value;
      } catch {
        return content.value;
      }
    }
  }

  async function writeText(key: string, text: string, { erase = false }: ErasingOption = {}): Promise<void> {
    await locks.run(key, async () => {
      const path = await pathOf(key);
      const bytes = Buffer.from(text);
      if (erase) {
        await behind.settle(key);
        await quarantine.eraseCopies(key, path, bytes);
        const written = await disk.replaceFile({ key, path, bytes, former: 'erased' });
        if (written !== undefined) reader.remember(path, textKind, written, decodeText(bytes));
        return;
      }
      const base = await fingerprintAt(path);
      const number = await journal.commit({ kind: 'text', key, text });
      unwritten.set(key, { kind: textKind, value: decodeText(bytes), base, number, patches: [] });
      behind.owe(key, () => writeTextFile(key, path, bytes), false);
    });
  }

  async function writeTextFile(key: string, path: string, bytes: Buffer): Promise<void> {
    const waiting = unwritten.get(key);
    if (waiting === undefined) return;
    disk.lookAgain();
    const present = await fingerprintAt(path);
    if (present !== undefined && present !== waiting.base) {
      // A person saved it after that: theirs stands.
      const copy = await disk.replaceFile({ key, path: backupOf(path), bytes, isDeferred: true });
      if (copy !== undefined) await wroteFile(key, waiting.number, await fileSystem.lstat(path));
      return;
    }
    const written = await disk.replaceFile({ key, path, bytes, former: 'kept', isDeferred: true });
    if (written === undefined) return;
    reader.remember(path, textKind, written, waiting.value);
    await wroteFile(key, waiting.number, written);
  }

  /** Brings into the file what an earlier process acknowledged and did not come to write. */
  async function restore(key: string, records: readonly JournalRecord[]): Promise<void> {
    const path = await pathOf(key);
    const missing = changesAfter(records, await unlessMissing(fileSystem.lstat(path)));
    const last = missing.at(-1);
    const erases = records.some((record) => record.kind === 'document' && record.erases === true);
    if (last === undefined && !erases) return;
    const present = (await reader.read(key, path, {}, (content) => content))?.value;
    let bytes = present;
    if (last?.kind === 'text') bytes = Buffer.from(last.text);
    else if (last !== undefined)
      bytes = Buffer.from(formatDocument(patchedBy(missing, await rawDocument(key, path))));
    if (bytes !== undefined && present?.equals(bytes) !== true)
      await (last?.kind === 'text' ? disk.replaceFile : replaceDocument)({
        key,
        path,
        bytes,
        former: 'kept',
      });
    if (erases) await quarantine.eraseCopies(key, path, bytes);
  }

  /** A document as it is on disk, whatever its kind; where it is no JSON its last good copy. */
  async function rawDocument(key: string, path: string): Promise<object> {
    const rawAt = (file: string) => reader.read(key, file, {}, (bytes) => parseObject(decodeText(bytes)));
    const waitForEdit = createEditWait(key, path);
    // Where an editor never ends, the start does not wait for it.
    const isEdited = async (): Promise<boolean> => (await waitForEdit().catch(() => 'stands')) === 'waited';
    let document = await rawAt(path);
    while (document?.value === undefined && (await isEdited())) document = await rawAt(path);
    for (const file of [path, backupOf(path)]) {
      const content = file === path ? document : await rawAt(file);
      if (content?.value !== undefined) return content.value;
      if (content === undefined) continue;
      await quarantine.keep(file === path ? key : `${key}.bak`, file);
      if (file === path) await tellSetAside(key, backupOf(path));
    }
    return {};
  }

  return { read, update, readText, writeText, damage, restore };
}

/** How often a file that is being edited is looked at. */
const lookAgainMs = 100;

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
  /** Of its file; `undefined` where there is none yet. */
  readonly fingerprint: string | undefined;
  /** The file says just this: nothing was mended when it was read. */
  readonly isAsWritten: boolean;
}
