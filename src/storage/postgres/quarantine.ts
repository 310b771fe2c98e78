import { sql } from 'kysely';

import { limits } from '../../core/limits.ts';
import type { Database, Query } from './database.ts';

/**
 * Keeps a copy of an unreadable document for a person to look at [S4], in the transaction that takes it out of use; and lets the oldest copies go that are more,
 * larger or older than is kept.
 */
export async function quarantine(query: Query, key: string, reason: string, content: Buffer): Promise<void> {
  await query(sql`
    insert into discoclaw.quarantine (key, reason, content) values (${key}, ${reason}, ${content})`);
  const { files, bytes, days } = limits.quarantine;
  // The newest is why a person looks.
  await query(sql`
    delete from discoclaw.quarantine where id in (
      select id from (
        select id, at, row_number() over newest as place, sum(octet_length(content)) over newest as total
        from discoclaw.quarantine window newest as (order by id desc)
      ) copies
      where place > 1 and (place > ${files} or total > ${bytes} or at < now() - make_interval(days => ${days}))
    )`);
}

export async function countQuarantined({ query }: Database): Promise<number> {
  const [found] = await query(
    sql<{ isThere: boolean }>`select to_regclass('discoclaw.quarantine') is not null as "isThere"`,
  );
  // Before the first start there is none.
  if (found?.isThere !== true) return 0;
  const [counted] = await query(sql<{ count: number }>`select count(*) as count from discoclaw.quarantine`);
  return counted?.count ?? 0;
}
