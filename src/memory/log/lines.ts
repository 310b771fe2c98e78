import type { SessionKey } from '../../core/place.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import type { LogEntry, Store } from '../../core/store.ts';
import { logRecordSchema, type LogRecord } from './records.ts';
import { logKey } from './session-state.ts';
import type { Sessions } from './sessions.ts';

const firstWindow = 16;
const appendedAtOnce = 200;

export type LogLines = ReturnType<typeof createLogLines>;

/** The lines of sessions' logs, as they are on disk. Rejects with `StoreError`. */
export function createLogLines(store: Store, sessions: Pick<Sessions, 'begin'>) {
  /** In order. */
  async function after(session: SessionKey, cursor: number): Promise<readonly LogEntry<LogRecord>[]> {
    const entries: LogEntry<LogRecord>[] = [];
    for await (const entry of store.scan(logKey(session), logRecordSchema, { after: cursor }))
      entries.push(entry);
    return entries;
  }

  /** Part of a job of the person's queue; resolves when it is on disk. */
  async function append(session: SessionKey, record: LogRecord): Promise<void> {
    await sessions.begin(session);
    await store.append(logKey(session), record);
  }

  return {
    after,
    append,
    /** From before the messages with these ids, which grow with time for the person's messages and for replies. */
    async covering(session: SessionKey, ids: readonly string[]): Promise<readonly LogEntry<LogRecord>[]> {
      const oldest = ids.toSorted(compareSnowflakes)[0];
      if (oldest === undefined) return [];
      const { last } = await store.logState(logKey(session));
      // Before all there is what begins at 0.
      for (let size = oldest === '0' ? last : firstWindow; ; size *= 4) {
        const start = Math.max(0, last - size);
        const entries = await after(session, start);
        const beginsBefore = (['user', 'assistant'] as const).every((role) => {
          const first = entries.find(({ record }) => record.type === 'message' && record.role === role);
          return first !== undefined && compareSnowflakes(first.record.id, oldest) < 0;
        });
        if (start === 0 || beginsBefore) return entries;
      }
    },
    /** Appends in few writes [S2] of bounded size [L4]; resolves when on disk. */
    async appendAll(session: SessionKey, records: readonly LogRecord[]): Promise<void> {
      for (let first = 0; first < records.length; first += appendedAtOnce) {
        const batch = records.slice(first, first + appendedAtOnce);
        await Promise.all(batch.map((record) => append(session, record)));
      }
    },
    /** `undefined` removes a record. */
    async rewrite(
      session: SessionKey,
      change: (entry: LogEntry<LogRecord>) => LogRecord | undefined,
    ): Promise<void> {
      await store.rewrite(logKey(session), logRecordSchema, change);
    },
  };
}
