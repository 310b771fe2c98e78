import { StoreError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, SetAside, Versioned } from '../../core/store.ts';
import { checkedDocument, parseDocument, type ParsedDocument } from '../document-text.ts';
import type { KeyLocks } from '../key-locks.ts';
import type { Database, Query } from './database.ts';
import { entryOf, freshNumber, type Entries } from './entries.ts';
import type { Quarantine } from './quarantine.ts';
import { assertHeld } from './session.ts';

interface DocumentParts {
  readonly database: Database;
  readonly entries: Entries;
  readonly quarantine: Quarantine;
  readonly locks: KeyLocks;
  readonly onSetAside: (file: SetAside) => void;
  readonly logger: Logger;
}

/** A document in good order, as it was at a revision; `none` where there was none. */
interface Sound<T> {
  readonly value: T | undefined;
  readonly revision: number;
}

/** The revision of what is not there. */
const none = -1;

const textKind = {};

/** How often a change is made again because another process was faster, before that counts as a failure. */
const mostConflicts = 100;

/** JSON documents and texts. Documents are stored as `json`, not `jsonb`, which would put their fields in another order and refuses U+0000 and halves of characters. */
export function createDocuments(
  { database, entries, quarantine, locks, onSetAside, logger }: DocumentParts,
  readOnly: boolean,
) {
  function load<T extends Versioned>(key: string, kind: DocumentKind<T>) {
    return entries.read(key, kind, (text) => parseDocument(key, text, kind));
  }

  async function read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined> {
    const loaded = await load(key, kind);
    if (loaded === undefined) return undefined;
    if (loaded.value.outcome === 'valid') return loaded.value.value;
    return readOnly
      ? lastGood(key, kind, loaded.value.reason)
      : locks.run(key, async () => (await loadSound(key, kind)).value);
  }

  /** For who changes nothing: what would be used. */
  async function lastGood<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    reason: string,
  ): Promise<T | undefined> {
    const copy = await quarantine.formerOf(key);
    const parsed = copy === undefined ? undefined : parseDocument(key, copy, kind);
    const value = parsed?.outcome === 'valid' ? parsed.value : undefined;
    logger.warn('unreadable document left where it is', {
      key,
      reason,
      lastGoodCopyUsed: value !== undefined,
    });
    return value;
  }

  /** Only while the key's lock is held: it may have to be put in order first. */
  async function loadSound<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<Sound<T>> {
    for (;;) {
      const loaded = await load(key, kind);
      if (loaded === undefined) return { value: undefined, revision: none };
      const { value: parsed, revision } = loaded;
      if (parsed.outcome === 'valid') return { value: parsed.value, revision };
      await recover(key, kind, parsed.reason);
    }
  }

  /** Puts an unreadable document into quarantine, and its last good copy in its place [S4]. */
  async function recover<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    reason: string,
  ): Promise<void> {
    const setAside = await database.transaction(async (query) => {
      const entry = await lockedEntry(query, key);
      if (entry === undefined) return undefined;
      const { text, former, at, changedAt } = entry;
      // Another process, or a person, put it in order meanwhile.
      if (parseDocument(key, text, kind).outcome === 'valid') return undefined;
      // Where the copy is of a newer version this throws, and nothing is touched.
      const isGood = former !== undefined && parseDocument(key, former, kind).outcome === 'valid';
      await quarantine.keep(query, key, reason, text);
      if (former !== undefined && !isGood)
        await quarantine.keep(query, key, 'the copy was no better', former);
      if (isGood) await query({ text: restoreFormer, values: [key, freshNumber()] });
      else await query({ text: 'delete from discoclaw.entries where key = $1', values: [key] });
      return { key, at, ...(isGood && { copyFrom: changedAt }) };
    });
    entries.forget(key);
    if (setAside === undefined) return;
    onSetAside(setAside);
    const outcome = setAside.copyFrom !== undefined ? 'its last good copy is used' : 'there is no good copy';
    logger.error(`unreadable document moved to quarantine, ${outcome}`, { key, reason });
  }

  async function update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    erase: () => boolean,
    isLost: () => boolean,
  ): Promise<T | undefined> {
    return locks.run(key, async () => {
      let current: Sound<T> = knownDocument(key, kind) ?? (await loadSound(key, kind));
      for (let conflicts = 0; conflicts < mostConflicts; conflicts += 1) {
        const outcome = await attempt({ key, kind, change, erase, isLost }, current);
        if (outcome !== 'conflict') return outcome.value;
        current = await loadSound(key, kind);
      }
      throw new StoreError(`${key} was not stored: others kept changing it`, key);
    });
  }

  /** The document as the cache has it: a change is stored only where it still holds. */
  function knownDocument<T extends Versioned>(key: string, kind: DocumentKind<T>): Sound<T> | undefined {
    const known = entries.known(key, kind);
    if (known === undefined) return undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- values of one kind are of one type
    const parsed = known.value as ParsedDocument<T>;
    return parsed.outcome === 'valid' ? { value: parsed.value, revision: known.revision } : undefined;
  }

  /** Changes what is known, and stores that if it is still what stands there; also where nothing is stored, nobody is told what no longer holds. */
  async function attempt<T extends Versioned>(
    { key, kind, change, erase, isLost }: Attempt<T>,
    current: Sound<T>,
  ): Promise<{ readonly value: T | undefined } | 'conflict'> {
    let next: T | undefined;
    try {
      next = change(current.value) ?? current.value;
    } catch (error) {
      if ((await loadSound(key, kind)).revision !== current.revision) return 'conflict';
      throw error;
    }
    const erases = erase();
    if (next === undefined || next === current.value) {
      if ((await loadSound(key, kind)).revision !== current.revision) return 'conflict';
      assertHeld(key, isLost);
      if (erases) await database.query({ text: eraseCopies, values: [key] });
      return { value: next };
    }
    const value = checkedDocument(key, kind, next);
    const json = JSON.stringify(value);
    const revision = freshNumber();
    const isStored = await compareAndSet({ key, json, revision, base: current.revision, erases, isLost });
    if (!isStored) return 'conflict';
    entries.remember(key, { revision, kind, value: { outcome: 'valid', value } }, json.length);
    return { value };
  }

  async function compareAndSet(write: DocumentWrite): Promise<boolean> {
    const { key, json, revision, base, erases, isLost } = write;
    return database.persist(async (query, isUncertain) => {
      if (isUncertain && (await wasStored(query, write))) return true;
      assertHeld(key, isLost);
      const bytes = Buffer.byteLength(json);
      const rows =
        base === none
          ? await query({
              name: 'insert document',
              text: insertDocument,
              values: [key, json, bytes, revision, erases],
            })
          : await query({
              name: 'update document',
              text: updateDocument,
              values: [key, json, bytes, revision, base, erases],
            });
      // A try before may have been waiting in the server until now.
      return rows.length > 0 || (isUncertain && (await wasStored(query, write)));
    });
  }

  async function readText(key: string): Promise<string | undefined> {
    return (await entries.read(key, textKind, (text) => text))?.value;
  }

  async function writeText(key: string, text: string, erases: boolean, isLost: () => boolean): Promise<void> {
    await locks.run(key, async () => {
      const bytes = Buffer.from(text);
      const revision = freshNumber();
      const values = [key, bytes, bytes.length, revision, erases];
      await database.persist((query) => {
        assertHeld(key, isLost);
        return query({ name: 'write text', text: writeContent, values });
      });
      const value = new TextDecoder('utf-8').decode(bytes);
      entries.remember(key, { revision, kind: textKind, value }, bytes.length);
    });
  }

  return { read, update, readText, writeText };
}

/** A change of a document, as it is made as often as others come between. */
interface Attempt<T extends Versioned> {
  readonly key: string;
  readonly kind: DocumentKind<T>;
  readonly change: (current: T | undefined) => T | undefined;
  readonly erase: () => boolean;
  readonly isLost: () => boolean;
}

interface DocumentWrite {
  readonly key: string;
  readonly json: string;
  readonly revision: number;
  readonly base: number;
  readonly erases: boolean;
  readonly isLost: () => boolean;
}

/** Whether a try whose answer was lost has stored it, be it that another change came on top of it already. */
async function wasStored(query: Query, { key, revision, base }: DocumentWrite): Promise<boolean> {
  const [present] = await query<{ revision: number; previous: number | null }>({
    text: 'select revision, previous from discoclaw.entries where key = $1',
    values: [key],
  });
  if (present?.revision === revision || present?.previous === revision) return true;
  const isUntouched = (present?.revision ?? none) === base || (present?.previous ?? none) === base;
  if (!isUntouched) throw new StoreError(`${key}: it is not known whether it was stored`, key);
  return false;
}

async function lockedEntry(query: Query, key: string) {
  const [row] = await query<{
    revision: number;
    document: string | null;
    content: Buffer | null;
    former_document: string | null;
    former_content: Buffer | null;
    at: Date;
    changed_at: Date;
  }>({
    text: `
      select revision, document, content, former_document, former_content, now() as at, changed_at
      from discoclaw.entries where key = $1 and kind <> 'log' for update`,
    values: [key],
  });
  if (row === undefined) return undefined;
  const { revision, former_document: document, former_content: content } = row;
  const former =
    document === null && content === null ? undefined : entryOf({ revision, document, content }).text;
  // The good copy is what held until the present one was stored.
  return {
    text: entryOf(row).text,
    former,
    at: row.at.toISOString(),
    changedAt: row.changed_at.toISOString(),
  };
}

/** Copies in quarantine go in the same statement, or not at all. */
const insertDocument = `
  with stored as (
    insert into discoclaw.entries (key, kind, document, former_document, bytes, revision)
    values ($1, 'document', $2, $2, $3, $4)
    on conflict (key) do nothing returning key
  ), erased as (delete from discoclaw.quarantine where $5 and key in (select key from stored))
  select key from stored`;

const updateDocument = `
  with stored as (
    update discoclaw.entries set
      former_document = case when $6 then $2::json else document end,
      former_content = case when $6 then null else content end,
      kind = 'document', document = $2, content = null, bytes = $3, revision = $4, previous = revision, changed_at = now()
    where key = $1 and revision = $5 returning key
  ), erased as (delete from discoclaw.quarantine where $6 and key in (select key from stored))
  select key from stored`;

const writeContent = `
  with erased as (delete from discoclaw.quarantine where $5 and key = $1)
  insert into discoclaw.entries as entry (key, kind, content, bytes, revision) values ($1, 'text', $2, $3, $4)
  on conflict (key) do update set
    former_document = case when $5 then null else entry.document end,
    former_content = case when $5 then excluded.content else entry.content end,
    kind = 'text', document = null, content = excluded.content, bytes = excluded.bytes, revision = excluded.revision,
    previous = entry.revision, changed_at = now()`;

const restoreFormer = `
  update discoclaw.entries set document = former_document, content = former_content, revision = $2, previous = revision,
    bytes = octet_length(coalesce(former_document::text, encode(former_content, 'escape')))
  where key = $1`;

const eraseCopies = `
  with erased as (delete from discoclaw.quarantine where key = $1)
  update discoclaw.entries set former_document = document, former_content = content where key = $1`;
