import { createKeyedQueue } from '../core/keyed-queue.ts';
import { growingCache, limits } from '../core/limits.ts';
import type { LogEntry, Store } from '../core/store.ts';
import type { Timer } from '../core/time.ts';
import {
  applyRecord,
  countRecord,
  newJournalState,
  recordSchema,
  stillStands,
  takeBackPrepared,
  type BegunReply,
  type JournalRecord,
  type JournalState,
  type PreparedReply,
} from './journal-state.ts';

const loadedChannels = 250;
/** Until refused writes are tried again. */
const retryMs = 5000;

export interface Dropping {
  /** Records of ids go only before this number. Default: they stay. */
  readonly first?: number;
  /**
   * After this number, which the state may not cover, only replies go that `isGone` picks. Default: the
   * newest known.
   */
  readonly upTo?: number;
  readonly isGone?: (reply: PreparedReply | BegunReply) => boolean;
}

/**
 * The channels' journals as this process knows them. Other processes may write too, so log end and edition
 * are checked before each use. What the disk refuses is known all the same and is stored before the next
 * record, or later by itself. `isErased` picks replies of which nothing is kept.
 */
export function createJournalLogs(store: Store, isErased: Required<Dropping>['isGone'], timer: Timer) {
  const loaded = growingCache<string, Promise<JournalState>>(loadedChannels);
  /** What the disk refused, by channel, oldest first. */
  const refused = growingCache<string, JournalRecord[]>(loadedChannels);
  let isRetrying = false;
  /** Stores refused records, and what comes behind them, one at a time. */
  const line = createKeyedQueue();

  async function stateOf(channelId: string): Promise<JournalState> {
    const known = await loaded.get(channelId);
    if (known === undefined) return loaded.get(channelId) ?? loadAnew(channelId);
    // Talk in a DM may hide and erase messages in any channel.
    const { last, edition } = await store.logState(logOf(channelId));
    return known.seen.last === last && known.seen.edition === edition ? known : loadAnew(channelId);
  }

  function loadAnew(channelId: string): Promise<JournalState> {
    const loading = load(channelId);
    loaded.set(channelId, loading);
    loading.catch(() => loaded.delete(channelId));
    return loading;
  }

  async function load(channelId: string): Promise<JournalState> {
    if (refused.has(channelId))
      await line.run(channelId, () => saveRefused(channelId)).catch(() => undefined);
    const state = newJournalState(await store.logState(logOf(channelId)));
    for await (const { record } of store.scan(logOf(channelId), recordSchema)) {
      applyRecord(state, record);
      countRecord(state, record);
    }
    for (const record of refused.get(channelId) ?? []) if (!isOver(record)) applyRecord(state, record);
    return state;
  }

  /** Rejects at the first that is refused again. */
  async function saveRefused(channelId: string): Promise<void> {
    const records = refused.get(channelId) ?? [];
    for (let [record] = records; record !== undefined; [record] = records) {
      if (!isOver(record)) await store.append(logOf(channelId), record);
      records.shift();
    }
    refused.delete(channelId);
  }

  function isOver(record: JournalRecord): boolean {
    return record.kind === 'begun' && isErased(record);
  }

  /** Resolves with the state that has the record, and its number. */
  async function save(channelId: string, record: JournalRecord) {
    let state: JournalState | undefined;
    try {
      state = await stateOf(channelId);
      applyRecord(state, record);
      const append = () => store.append(logOf(channelId), record);
      const afterRefused = async () => {
        await saveRefused(channelId);
        return append();
      };
      const sequence = await (refused.has(channelId) ? line.run(channelId, afterRefused) : append());
      countRecord(state, record);
      return { state, sequence };
    } catch (error) {
      if (state !== undefined) takeBackPrepared(state, record);
      keepRefused(channelId, record);
      throw error;
    }
  }

  function keepRefused(channelId: string, record: JournalRecord): void {
    // The former state may be in use elsewhere without it.
    loaded.delete(channelId);
    // An answer is kept only for the next process.
    if (record.kind === 'prepared') return;
    const records = refused.get(channelId) ?? [];
    refused.set(channelId, records);
    records.push(record);
    if (records.length > limits.journalIds) records.shift();
    retryLater();
  }

  /** A channel may be quiet from now on, and the process killed. */
  function retryLater(): void {
    if (isRetrying) return;
    isRetrying = true;
    timer(() => void retry(), retryMs);
  }

  async function retry(): Promise<void> {
    await Promise.allSettled([...refused.keys()].map((id) => line.run(id, () => saveRefused(id))));
    isRetrying = false;
    if (refused.size > 0) retryLater();
  }

  return {
    stateOf,
    /** Resolves with the new state; where the disk refuses, this rejects but keeps the record. */
    async add(channelId: string, record: JournalRecord): Promise<JournalState> {
      const { state, sequence } = await save(channelId, record);
      // Of two processes that write at once, the later one reads what the other wrote.
      if (sequence !== state.seen.last + 1) return stateOf(channelId);
      state.seen = { ...state.seen, last: sequence };
      return state;
    },
    /** Drops the records that say nothing any more. */
    dropDone,
    /** Shrinks the file; the newest ids go into single records. What other turns write meanwhile stays. */
    async compact(channelId: string, state: JournalState): Promise<void> {
      const { records } = state;
      const upTo = state.seen.last;
      // Of many that write meanwhile, one compacts.
      state.records = 0;
      const keep = (kind: 'handled' | 'hidden') =>
        store.append(logOf(channelId), { kind, messageIds: [...state[kind]] });
      const first = await keep('handled');
      await keep('hidden');
      await dropDone(channelId, state, { first, upTo });
      state.records += records + 2;
    },
    async namesPerson(channelId: string, userId: string): Promise<boolean> {
      for await (const { record } of store.scan(logOf(channelId), recordSchema))
        if ('userId' in record && record.userId === userId) return true;
      return false;
    },
    async drop(channelId: string): Promise<void> {
      loaded.delete(channelId);
      refused.delete(channelId);
      await store.removeAll(`channels/${channelId}`);
    },
  };

  async function dropDone(
    channelId: string,
    state: JournalState,
    { first = 0, upTo = state.seen.last, isGone = () => false }: Dropping = {},
  ): Promise<void> {
    /** By sequence number; counted only once the file is written. */
    const dropped = new Map<number, JournalRecord['kind']>();
    /** Answers still on their way; one may be sent before the file is written. */
    const kept = new Set<number>();
    const change = ({ sequence, record }: LogEntry<JournalRecord>) => {
      const isIds = record.kind === 'handled' || record.kind === 'hidden' || record.kind === 'unhidden';
      const isReply = record.kind === 'prepared' || record.kind === 'begun';
      const isLater = sequence > upTo && !(isReply && isGone(record));
      if (isLater || (isIds ? sequence >= first : stillStands(state, record))) {
        if (record.kind === 'prepared') kept.add(sequence);
        return record;
      }
      // After a conflict everything is looked at again.
      kept.delete(sequence);
      dropped.set(sequence, record.kind);
      return undefined;
    };
    const rewritten = await store.rewrite(logOf(channelId), recordSchema, change);
    state.records -= dropped.size;
    for (const kind of dropped.values()) if (kind === 'prepared') state.texts -= 1;
    state.erasesTexts &&= state.prepared.size > 0 || kept.size > 0;
    if (rewritten.from === state.seen.edition) state.seen = { ...state.seen, edition: rewritten.to };
  }
}

function logOf(channelId: string): string {
  return `channels/${channelId}/journal.jsonl`;
}
