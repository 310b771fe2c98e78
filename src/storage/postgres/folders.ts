import type { StoredFile } from '../../core/store.ts';
import type { Database } from './database.ts';
import { assertHeld } from './session.ts';

/** Folders looked up in one round trip, where there may be very many. */
const foldersAtOnce = 1000;

interface Folder {
  readonly name: string;
  readonly changedAt: number;
}

/** Keys by the folders that they lie in: all ranges of the one index, so that it makes no difference how much lies elsewhere. */
export function createFolders(database: Database) {
  return {
    /** As `Store.list` says. */
    async list(folder: string): Promise<readonly StoredFile[]> {
      const { first, beyond } = below(folder);
      const rows = await database.query<{ key: string; bytes: number }>({
        name: 'list',
        text: 'select key, bytes from discoclaw.entries where key >= $1 and key < $2',
        values: [first, beyond],
      });
      const files = rows.map(({ key, bytes }) => ({ path: key.slice(first.length), bytes }));
      return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
    },

    /** As `Store.folders` says; a folder counts as changed when something in it was. */
    async folders(folder: string, name: string): Promise<readonly Folder[]> {
      const { first, beyond } = below(folder);
      const found: Folder[] = [];
      for (let from = first; ;) {
        const rows = await database.query<{ key: string; changed_at: number | null }>({
          name: name === '' ? 'folders' : 'folders with a file',
          text: name === '' ? listFolders(changedWithin) : listFolders(changedFile),
          values: [first, from, beyond, foldersAtOnce, ...(name === '' ? [] : [name])],
        });
        for (const { key, changed_at: changedAt } of rows)
          if (key.includes('/'))
            found.push({ name: key.slice(0, key.indexOf('/')), changedAt: changedAt ?? 0 });
        const last = rows.at(-1);
        if (last === undefined || rows.length < foldersAtOnce) return found;
        from = nextAfter(first, last.key);
      }
    },

    /** Removes a key, and all that hangs on it. */
    remove: (key: string, isLost: () => boolean) => removeBetween(database, key, `${key}\u0001`, isLost),

    async removeAll(folder: string, isLost: () => boolean): Promise<void> {
      const { first, beyond } = below(folder);
      await removeBetween(database, first, beyond, isLost);
    },
  };
}

/** The keys below a folder are those from one to before another: nothing comes between a slash and a zero. */
function below(folder: string): { readonly first: string; readonly beyond: string } {
  return { first: `${folder}/`, beyond: `${folder}0` };
}

async function removeBetween(
  database: Database,
  first: string,
  beyond: string,
  isLost: () => boolean,
): Promise<void> {
  await database.persist((query) => {
    assertHeld(first, isLost);
    return query({
      name: 'remove',
      text: 'select discoclaw.remove_between($1, $2)',
      values: [first, beyond],
    });
  });
}

/** Where the folders go on behind the one that a key, told from its folder on, lies in. */
function nextAfter(first: string, key: string): string {
  const slash = key.indexOf('/');
  return slash === -1 ? `${first}${key}\u0001` : `${first}${key.slice(0, slash)}0`;
}

const changedWithin = `
  select max(entry.changed_at) as at from discoclaw.entries entry
  where entry.key >= $1 || split_part(found.key, '/', 1) || '/' and entry.key < $1 || split_part(found.key, '/', 1) || '0'`;

const changedFile = `
  select max(entry.changed_at) as at from discoclaw.entries entry
  where entry.key = $1 || split_part(found.key, '/', 1) || '/' || $5
    or (entry.key >= $1 || split_part(found.key, '/', 1) || '/' || $5 || '/'
      and entry.key < $1 || split_part(found.key, '/', 1) || '/' || $5 || '0')`;

/** Jumps from the first key of one folder to that of the next. */
function listFolders(changed: string): string {
  return `
    with recursive found (key) as (
      (select substr(key, length($1) + 1) from discoclaw.entries where key >= $2 and key < $3 order by key limit 1)
      union all
      select (
        select substr(entry.key, length($1) + 1) from discoclaw.entries entry
        where entry.key < $3 and entry.key >= case
          when strpos(found.key, '/') = 0 then $1 || found.key || chr(1)
          else $1 || split_part(found.key, '/', 1) || '0'
        end
        order by entry.key limit 1
      )
      from found where found.key is not null
    ), page as (select key from found where key is not null limit $4)
    select found.key, extract(epoch from changed.at)::float8 * 1000 as changed_at
    from page found left join lateral (${changed}) changed on true`;
}
