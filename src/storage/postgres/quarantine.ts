import { sql } from 'kysely';

import { limits } from '../../core/limits.ts';
import type { Database, Query } from './database.ts';

export type Quarantine = ReturnType<typeof createQuarantine>;

/** Where unreadable documents are kept for a person to look at [S4]: the table `quarantine`. */
export function createQuarantine(database: Database) {
  return {
    /** Keeps a copy, in the transaction that takes the document out of use; and lets the oldest copies go that are more, larger or older than is kept. */
    async keep(query: Query, key: string, reason: string, content: Buffer): Promise<void> {
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
    },

    async count(): Promise<number> {
      const [found] = await database.query(
        sql<{ isThere: boolean }>`select to_regclass('discoclaw.quarantine') is not null as "isThere"`,
      );
      // Before the first start there is none.
      if (found?.isThere !== true) return 0;
      const [counted] = await database.query(
        sql<{ count: number }>`select count(*) as count from discoclaw.quarantine`,
      );
      return counted?.count ?? 0;
    },

    /** The last good copy of a document, as text; `undefined` where there is none. */
    async formerOf(key: string): Promise<string | undefined> {
      const [row] = await database.query(sql<{ former: Buffer | null }>`
        select coalesce(convert_to(former_document::text, 'UTF8'), former_content) as former
        from discoclaw.entries where key = ${key}`);
      return row?.former?.toString('utf8');
    },
  };
}
