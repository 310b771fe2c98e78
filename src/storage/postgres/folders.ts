import { sql, type RawBuilder } from 'kysely';

import type { StoredFile } from '../../core/store.ts';
import type { Database } from './database.ts';

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
    async folders(folder: string, name: string) {
      const rows = await database.query(listFolders(below(folder), name));
      return rows
        .filter(({ key }) => key.includes('/'))
        .map(({ key, changed_at: changedAt }) => ({
          name: key.slice(0, key.indexOf('/')),
          changedAt: changedAt ?? 0,
        }));
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

/** Jumps from folder to folder, each with when something below it, or at or below a name in it, last changed. */
function listFolders(
  { first, beyond }: ReturnType<typeof below>,
  name: string,
): RawBuilder<{ key: string; changed_at: number | null }> {
  const folder = sql`${first} || split_part(found.key, '/', 1) || ${name === '' ? '' : `/${name}`}`;
  return sql`
    with recursive found (key) as (
      (select substr(key, length(${first}) + 1) from discoclaw.entries where key >= ${first} and key < ${beyond} order by key limit 1)
      union all
      select (
        select substr(entry.key, length(${first}) + 1) from discoclaw.entries entry
        where entry.key < ${beyond} and entry.key >= case
          when strpos(found.key, '/') = 0 then ${first} || found.key || chr(1)
          else ${first} || split_part(found.key, '/', 1) || '0'
        end
        order by entry.key limit 1
      )
      from found where found.key is not null
    )
    select found.key, extract(epoch from changed.at)::float8 * 1000 as changed_at
    from found left join lateral (
      select max(entry.changed_at) as at from discoclaw.entries entry
      where entry.key = ${folder} or (entry.key >= ${folder} || '/' and entry.key < ${folder} || '0')
    ) changed on true
    where found.key is not null`;
}
