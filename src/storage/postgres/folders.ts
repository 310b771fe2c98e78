import type { StoredFile } from '../../core/store.ts';
import type { Database } from './database.ts';
import { sql } from './sql.ts';

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
