import { StoreError } from '../../core/errors.ts';
import { limits } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { DocumentKind, ErasingOption, SetAside, StoredFile, Versioned } from '../../core/store.ts';
import { checkedDocument, parseDocument } from '../document-text.ts';
import type { KeyLocks } from '../key-locks.ts';
import { type Database, type Query, DatabaseFault, sql } from './database.ts';

interface DocumentParts {
  readonly database: Database;
  readonly locks: KeyLocks;
  readonly onSetAside: (file: SetAside) => void;
  readonly logger: Logger;
}

interface EntryRow {
  readonly document: string | null;
  readonly content: Buffer | null;
}

/** A document in good order, whose row is locked. */
interface Sound<T> {
  readonly value: T | undefined;
  readonly isThere: boolean;
  /** It was unreadable until now. */
  readonly setAside?: SetAside;
  readonly reason?: string;
}

/** `undefined` where there is none. Its row may be locked. */
async function textOf(ask: Query, key: string, isLocked: boolean): Promise<string | undefined> {
  const { text, values } = sql<EntryRow>`
    select document, content from discoclaw.entries where key = ${key} and kind <> 'log'`;
  const [row] = await ask<EntryRow>({ text: isLocked ? `${text} for update` : text, values });
  // As the store in files has it, without a byte order mark.
  return row && (row.document ?? new TextDecoder('utf-8').decode(row.content ?? Buffer.alloc(0)));
}

/** Locks the document until the end of the transaction; an unreadable one is recovered first. */
async function lockSound<T extends Versioned>(
  inOne: Query,
  key: string,
  kind: DocumentKind<T>,
): Promise<Sound<T>> {
  const text = await textOf(inOne, key, true);
  if (text === undefined) return { value: undefined, isThere: false };
  const parsed = parseDocument(key, text, kind);
  return parsed.outcome === 'valid'
    ? { value: parsed.value, isThere: true }
    : recovered(inOne, key, kind, parsed.reason);
}

/** Of JSON as text: `jsonb` would reorder fields and refuse U+0000. */
export function createDocuments({ database, locks, onSetAside, logger }: DocumentParts, readOnly: boolean) {
  const { query } = database;

  async function read<T extends Versioned>(key: string, kind: DocumentKind<T>): Promise<T | undefined> {
    const text = await textOf(query, key, false);
    if (text === undefined) return undefined;
    const parsed = parseDocument(key, text, kind);
    if (parsed.outcome === 'valid') return parsed.value;
    if (readOnly) throw new StoreError(`${key} cannot be read: ${parsed.reason}`, key);
    return locks.run(key, async () => {
      const sound = await database.transaction((inOne) => lockSound(inOne, key, kind));
      tellSetAside(sound);
      return sound.value;
    });
  }

  function tellSetAside({ setAside, reason }: Sound<unknown>): void {
    if (setAside === undefined) return;
    onSetAside(setAside);
    const outcome = setAside.copyFrom !== undefined ? 'its last good copy is used' : 'there is no good copy';
    logger.error(`unreadable document moved to quarantine, ${outcome}`, { key: setAside.key, reason });
  }

  async function update<T extends Versioned>(
    key: string,
    kind: DocumentKind<T>,
    change: (current: T | undefined) => T | undefined,
    { erase = false }: ErasingOption = {},
  ): Promise<T | undefined> {
    return locks.run(key, async () => {
      const { sound, value } = await database.transaction(async (inOne) => {
        const locked = await lockSound(inOne, key, kind);
        const next = change(locked.value) ?? locked.value;
        const erases = typeof erase === 'function' ? erase() : erase;
        if (erases) await inOne(sql`delete from discoclaw.quarantine where key = ${key}`);
        if (next === undefined || next === locked.value) {
          if (erases)
            await inOne(sql`
                update discoclaw.entries set former_document = document where key = ${key}`);
          return { sound: locked, value: next };
        }
        const checked = checkedDocument(key, kind, next);
        await put(inOne, key, checked, locked.isThere);
        return { sound: locked, value: checked };
      });
      tellSetAside(sound);
      return value;
    });
  }

  async function readText(key: string): Promise<string | undefined> {
    return textOf(query, key, false);
  }

  async function writeText(key: string, text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await locks.run(key, () =>
      database.transaction(async (inOne) => {
        await inOne(sql`delete from discoclaw.quarantine where key = ${key}`);
        await inOne(sql`
            insert into discoclaw.entries (key, kind, content, bytes) values (${key}, 'text', ${bytes}, ${bytes.length})
            on conflict (key) do update set
              former_document = null, kind = 'text', document = null, content = excluded.content, bytes = excluded.bytes,
              changed_at = now()`);
      }),
    );
  }

  return { read, update, readText, writeText };
}

/** Rejects with a conflict where another process was faster to make what was not there. */
async function put(inOne: Query, key: string, document: object, isThere: boolean): Promise<void> {
  const json = JSON.stringify(document);
  const bytes = Buffer.byteLength(json);
  const rows = isThere
    ? await inOne(sql`
        update discoclaw.entries set
          former_document = ${json}, kind = 'document', document = ${json}, content = null, bytes = ${bytes}, changed_at = now()
        where key = ${key} returning key`)
    : await inOne(sql`
        insert into discoclaw.entries (key, kind, document, former_document, bytes)
        values (${key}, 'document', ${json}, ${json}, ${bytes})
        on conflict (key) do nothing returning key`);
  if (rows.length === 0) throw new DatabaseFault('conflict', new Error('another process was faster'));
}

/** Puts an unreadable document into quarantine, and its last good copy in its place [S4]. */
async function recovered<T extends Versioned>(
  inOne: Query,
  key: string,
  kind: DocumentKind<T>,
  reason: string,
): Promise<Sound<T>> {
  const [row] = await inOne(sql<{ present: Buffer; backup: string | null; at: Date; changed_at: Date }>`
    select coalesce(convert_to(document::text, 'UTF8'), content) as present, former_document as backup, now() as at, changed_at
    from discoclaw.entries where key = ${key}`);
  if (row === undefined) return { value: undefined, isThere: false };
  const { present, backup, at, changed_at: changedAt } = row;
  // Where the copy is of a newer version this throws, and nothing is touched.
  const copy = backup === null ? undefined : parseDocument(key, backup, kind);
  await quarantine(inOne, key, reason, present);
  const setAside = { key, at: at.toISOString() };
  if (copy?.outcome !== 'valid') {
    await inOne(sql`delete from discoclaw.entries where key = ${key}`);
    return { value: undefined, isThere: false, setAside, reason };
  }
  await inOne(sql`
    update discoclaw.entries set kind = 'document', document = former_document, content = null,
      bytes = octet_length(former_document::text)
    where key = ${key}`);
  return {
    value: copy.value,
    isThere: true,
    setAside: { ...setAside, copyFrom: changedAt.toISOString() },
    reason,
  };
}

/** Keeps a copy for a person to look at [S4], in the same transaction, and drops those that are too old. */
async function quarantine(query: Query, key: string, reason: string, content: Buffer): Promise<void> {
  await query(sql`
    insert into discoclaw.quarantine (key, reason, content) values (${key}, ${reason}, ${content})`);
  await query(sql`
    delete from discoclaw.quarantine where at < now() - make_interval(days => ${limits.quarantine.days})`);
}

/** Their keys. */
export async function listQuarantined({ query }: Database): Promise<readonly string[]> {
  const [found] = await query(
    sql<{ isThere: boolean }>`select to_regclass('discoclaw.quarantine') is not null as "isThere"`,
  );
  // Before the first start there is none.
  if (found?.isThere !== true) return [];
  const rows = await query(sql<{ key: string }>`select key from discoclaw.quarantine order by id`);
  return rows.map(({ key }) => key);
}

/** Keys by folder: ranges of one index, however much lies elsewhere. */
export function createFolders(database: Database) {
  return {
    async list(folder: string): Promise<readonly StoredFile[]> {
      const { first, beyond } = below(folder);
      const rows = await database.query(sql<{ key: string; bytes: number }>`
        select key, bytes from discoclaw.entries where key >= ${first} and key < ${beyond}`);
      const files = rows.map(({ key, bytes }) => ({ path: key.slice(first.length), bytes }));
      return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },

    /** As `Store.folders` says; a folder counts as changed when something in it was. */
    async folders(folder: string, name = '') {
      const { first, beyond } = below(folder);
      const rows = await database.query(sql<{ name: string; changed_at: number }>`
        select name, coalesce(max(ms) filter (where ${name} in ('', rest) or starts_with(rest, ${`${name}/`})), 0) as changed_at
        from discoclaw.entries,
          lateral (select substr(key, length(${first}) + 1) as path) as of_folder,
          lateral (select split_part(path, '/', 1) as name) as of_name,
          lateral (select substr(path, length(name) + 2) as rest, extract(epoch from changed_at)::float8 * 1000 as ms) as of_rest
        where key >= ${first} and key < ${beyond} and strpos(path, '/') > 0
        group by name`);
      return rows.map(({ name: found, changed_at: changedAt }) => ({ name: found, changedAt }));
    },

    remove: (key: string) => removeBetween(database, key, `${key}\u0001`),

    async removeAll(folder: string): Promise<void> {
      const { first, beyond } = below(folder);
      await removeBetween(database, first, beyond);
    },
  };
}

/** A range of keys: nothing comes between a slash and a zero. */
function below(folder: string): { readonly first: string; readonly beyond: string } {
  return { first: `${folder}/`, beyond: `${folder}0` };
}

/** Removes keys first: each statement has what was committed before it, so that no new record stays behind. */
async function removeBetween(database: Database, first: string, beyond: string): Promise<void> {
  await database.transaction(async (query) => {
    const removed = await query(sql<{ id: number }>`
      delete from discoclaw.entries where key >= ${first} and key < ${beyond} returning id`);
    const logs = removed.map(({ id }) => id);
    await query(sql`delete from discoclaw.records where log = any(${logs}::bigint[])`);
    await query(sql`delete from discoclaw.quarantine where key >= ${first} and key < ${beyond}`);
  });
}
