import { lruCache } from '../../core/limits.ts';
import { sessionName, type SessionKey } from '../../core/place.ts';
import { compareSnowflakes } from '../../core/snowflake.ts';
import type { LogEntry, LogState, Store } from '../../core/store.ts';
import { logRecordSchema, type LogRecord } from './records.ts';
import { logKey } from './session-state.ts';
import type { Sessions } from './sessions.ts';

const keptSessions = 100;
const keptEntries = 400;
const firstWindow = 16;
const appendedAtOnce = 200;

interface Tail {
  /** The entries are all those after this sequence number. */
  readonly after: number;
  /** Grows; nobody else has it. */
  readonly entries: LogEntry<LogRecord>[];
  /** As it was when they were all. */
  readonly state: Pick<LogState, 'last' | 'edition'>;
}

/** Keeps the ends of busy logs in memory [S5], checked by last sequence number and edition. */
export class LogTails {
  readonly #store: Store;
  readonly #sessions: Pick<Sessions, 'begin'>;
  readonly #tails = lruCache<string, Tail>(keptSessions);

  constructor(store: Store, sessions: Pick<Sessions, 'begin'>) {
    this.#store = store;
    this.#sessions = sessions;
  }

  /** In order. `known` is the log's state where it was just asked for. */
  async after(
    session: SessionKey,
    cursor: number,
    known?: Tail['state'],
  ): Promise<readonly LogEntry<LogRecord>[]> {
    const { last, edition } = known ?? (await this.#store.logState(logKey(session)));
    const name = sessionName(session);
    const kept = this.#tails.get(name);
    const isCurrent = kept?.state.last === last && kept.state.edition === edition;
    if (isCurrent && kept.after <= cursor) return kept.entries.filter(({ sequence }) => sequence > cursor);
    const entries: LogEntry<LogRecord>[] = [];
    for await (const entry of this.#store.scan(logKey(session), logRecordSchema, { after: cursor })) {
      entries.push(entry);
    }
    const end = Math.max(last, entries.at(-1)?.sequence ?? 0);
    this.#keep(name, { after: cursor, entries: [...entries], state: { last: end, edition } });
    return entries;
  }

  /** From before the messages with these ids, which grow with time for the person's messages and for replies. */
  async covering(session: SessionKey, ids: readonly string[]): Promise<readonly LogEntry<LogRecord>[]> {
    const oldest = ids.toSorted(compareSnowflakes)[0];
    if (oldest === undefined) return [];
    const state = await this.#store.logState(logKey(session));
    // Before all there is what begins at 0.
    for (let size = oldest === '0' ? state.last : firstWindow; ; size *= 4) {
      const start = Math.max(0, state.last - size);
      const entries = await this.after(session, start, state);
      const beginsBefore = (['user', 'assistant'] as const).every((role) => {
        const first = entries.find(({ record }) => record.type === 'message' && record.role === role);
        return first !== undefined && compareSnowflakes(first.record.id, oldest) < 0;
      });
      if (start === 0 || beginsBefore) return entries;
    }
  }

  /** Appends in few writes [S2] of bounded size [L4]; resolves when on disk. */
  async appendAll(session: SessionKey, records: readonly LogRecord[]): Promise<void> {
    for (let first = 0; first < records.length; first += appendedAtOnce) {
      const batch = records.slice(first, first + appendedAtOnce);
      await Promise.all(batch.map((record) => this.append(session, record)));
    }
  }

  /** Part of a job of the person's queue; resolves when it is on disk. */
  async append(session: SessionKey, record: LogRecord): Promise<number> {
    await this.#sessions.begin(session);
    const sequence = await this.#store.append(logKey(session), record);
    const kept = this.#tails.get(sessionName(session));
    if (kept?.state.last === sequence - 1) {
      kept.entries.push({ sequence, record });
      const state = { last: sequence, edition: kept.state.edition };
      this.#keep(sessionName(session), { ...kept, state });
    }
    return sequence;
  }

  /** `undefined` removes a record. */
  async rewrite(
    session: SessionKey,
    change: (entry: LogEntry<LogRecord>) => LogRecord | undefined,
  ): Promise<void> {
    this.#tails.delete(sessionName(session));
    await this.#store.rewrite(logKey(session), logRecordSchema, change);
    this.#tails.delete(sessionName(session));
  }

  /** Its words are kept in memory no longer. */
  evict(session: SessionKey): void {
    this.#tails.delete(sessionName(session));
  }

  /** The same for all sessions of a person. */
  evictPerson(userId: string): void {
    for (const name of Array.from(this.#tails.keys()))
      if (name.endsWith(`:${userId}`)) this.#tails.delete(name);
  }

  /** A long conversation keeps only its newer half. */
  #keep(name: string, tail: Tail): void {
    if (tail.entries.length <= keptEntries) {
      this.#tails.set(name, tail);
      return;
    }
    const entries = tail.entries.slice(-keptEntries / 2);
    const after = (entries[0]?.sequence ?? 1) - 1;
    this.#tails.set(name, { after, entries, state: tail.state });
  }
}
