import { limits } from '../../core/limits.ts';
import type { Database, Query } from './database.ts';

export type Quarantine = ReturnType<typeof createQuarantine>;

/** Where unreadable documents are kept for a person to look at [S4]: the table `quarantine`. */
export function createQuarantine(database: Database) {
  return {
    /** Keeps a copy, in the transaction that takes the document out of use; and lets the oldest copies go that are more, larger or older than is kept. */
    async keep(query: Query, key: string, reason: string, text: string): Promise<void> {
      await query({
        text: 'insert into discoclaw.quarantine (key, reason, content) values ($1, $2, $3)',
        values: [key, reason, Buffer.from(text)],
      });
      const { files, bytes, days } = limits.quarantine;
      // The newest is why a person looks.
      await query({
        text: `
          delete from discoclaw.quarantine where id in (
            select id from (
              select id, at, row_number() over newest as place, sum(octet_length(content)) over newest as total
              from discoclaw.quarantine window newest as (order by id desc)
            ) copies
            where place > 1 and (place > $1 or total > $2 or at < now() - make_interval(days => $3))
          )`,
        values: [files, bytes, days],
      });
    },

    async count(): Promise<number> {
      const rows = await database.query<{ isThere: boolean }>({
        text: `select to_regclass('discoclaw.quarantine') is not null as "isThere"`,
      });
      // Before the first start there is none.
      if (rows[0]?.isThere !== true) return 0;
      const counts = await database.query<{ count: number }>({
        text: 'select count(*) as count from discoclaw.quarantine',
      });
      return counts[0]?.count ?? 0;
    },

    /** The last good copy of a document, as text; `undefined` where there is none. */
    async formerOf(key: string): Promise<string | undefined> {
      const [row] = await database.query<{ former: Buffer | null }>({
        text: `
          select coalesce(convert_to(former_document::text, 'UTF8'), former_content) as former
          from discoclaw.entries where key = $1`,
        values: [key],
      });
      return row?.former?.toString('utf8');
    },
  };
}
