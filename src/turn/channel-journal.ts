import { LRUCache } from 'lru-cache';

import type { Store } from '../core/store.ts';
import {
  applyRecord,
  countRecord,
  keepNewest,
  keptIds,
  newJournalState,
  recordSchema,
  stillStands,
  type BegunReply,
  type JournalRecord,
  type JournalState,
  type PreparedReply,
} from './journal-state.ts';

const loadedChannels = 500;

/**
 * What the bot did in a channel, on disk, so that a restart neither answers twice nor forgets to answer [G3], and so that
 * commands, their answers and error lines stay out of history [F2]. One log a channel: `channels/<channelId>/journal.jsonl`.
 */
export interface ChannelJournal {
  isHandled(channelId: string, messageId: string): Promise<boolean>;
  /** Whether a message is no part of history: also while it is the beginning of a reply that is not whole. */
  isHidden(channelId: string, messageId: string): Promise<boolean>;
  /**
   * Keeps the answer until `markHandled`: what was prepared is sent again after a crash, under the same nonce. An answer to what was edited or
   * deleted meanwhile is not kept, since it may hold what that said before; after a crash the edited message is asked again.
   */
  prepare(reply: PreparedReply): Promise<void>;
  /** Says which messages of a growing reply stand there, until `markHandled`: whoever goes on with it edits these. */
  begin(reply: BegunReply): Promise<void>;
  /** The messages have their reply, or will get none. */
  markHandled(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** These messages never enter history. */
  hide(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Takes the texts of answers out of the channel's file as soon as they were sent, so that none outlives a deletion there [G5]. */
  dropSentTexts(channelId: string): Promise<void>;
  /** The messages were edited or deleted: the same, and answers too that are to be kept no more, though they were not sent yet [G5]. */
  withdraw(
    channelId: string,
    messageIds: readonly string[],
    isWithdrawn: (reply: PreparedReply) => boolean,
  ): Promise<void>;
  /** Answers prepared in a channel whose sending was never confirmed. */
  unsent(channelId: string): Promise<readonly PreparedReply[]>;
  /** Replies that were begun in a channel and never confirmed to be whole. */
  begun(channelId: string): Promise<readonly BegunReply[]>;
  /** Whether the reply to a message was begun and never confirmed to be whole. */
  isUnfinished(channelId: string, messageId: string): Promise<boolean>;
  /** Channels that the bot has been active in. */
  channels(): Promise<readonly string[]>;
}

export function createChannelJournal({ store }: { store: Store }): ChannelJournal {
  const loaded = new LRUCache<string, Promise<JournalState>>({ max: loadedChannels });

  function stateOf(channelId: string): Promise<JournalState> {
    const known = loaded.get(channelId);
    if (known !== undefined) return known;
    const loading = load(store, channelId);
    loaded.set(channelId, loading);
    loading.catch(() => loaded.delete(channelId));
    return loading;
  }

  async function write(channelId: string, record: JournalRecord): Promise<void> {
    const state = await stateOf(channelId);
    // What happened is known to this process even where the disk refuses to keep it.
    applyRecord(state, record);
    await store.append(logOf(channelId), record);
    countRecord(state, record);
    const isDue = state.dropsTexts && record.kind === 'handled';
    if (isDue) await dropTexts(channelId, state);
    if (state.records > 4 * keptIds) await compact(store, channelId, state);
  }

  async function dropTexts(channelId: string, state: JournalState): Promise<void> {
    state.dropsTexts = state.prepared.size > 0;
    if (state.texts > state.prepared.size) await compact(store, channelId, state);
  }

  return {
    isHandled: async (channelId, messageId) => (await stateOf(channelId)).handled.has(messageId),
    async isHidden(channelId, messageId) {
      const { hidden, begun } = await stateOf(channelId);
      return (
        hidden.has(messageId) || [...begun.values()].some(({ replyIds }) => replyIds.includes(messageId))
      );
    },
    async prepare(reply) {
      const { channelId } = reply.place;
      const { withdrawn } = await stateOf(channelId);
      if (reply.messageIds.some((id) => withdrawn.has(id))) return;
      await write(channelId, { kind: 'prepared', ...reply });
    },
    begin: (reply) => write(reply.place.channelId, { kind: 'begun', ...reply }),
    markHandled: (channelId, messageIds) =>
      write(channelId, { kind: 'handled', messageIds: [...messageIds] }),
    hide: (channelId, messageIds) => write(channelId, { kind: 'hidden', messageIds: [...messageIds] }),
    dropSentTexts: async (channelId) => dropTexts(channelId, await stateOf(channelId)),
    async withdraw(channelId, messageIds, isWithdrawn) {
      const state = await stateOf(channelId);
      keepNewest(state.withdrawn, messageIds);
      for (const [key, reply] of state.prepared) if (isWithdrawn(reply)) state.prepared.delete(key);
      await dropTexts(channelId, state);
    },
    unsent: async (channelId) => [...(await stateOf(channelId)).prepared.values()],
    begun: async (channelId) => [...(await stateOf(channelId)).begun.values()],
    async isUnfinished(channelId, messageId) {
      const { begun } = await stateOf(channelId);
      return [...begun.values()].some(({ messageIds }) => messageIds.includes(messageId));
    },
    async channels() {
      const files = await store.list('channels');
      return files.flatMap(({ path }) =>
        path.endsWith('/journal.jsonl') ? [path.slice(0, path.indexOf('/'))] : [],
      );
    },
  };
}

function logOf(channelId: string): string {
  return `channels/${channelId}/journal.jsonl`;
}

async function load(store: Store, channelId: string): Promise<JournalState> {
  const state = newJournalState();
  for await (const { record } of store.scan(logOf(channelId), recordSchema)) {
    applyRecord(state, record);
    countRecord(state, record);
  }
  return state;
}

/**
 * Drops the records that say nothing any more; the newest ids are kept in single records. What other turns write to the file
 * meanwhile, be it between those two, stays.
 */
async function compact(store: Store, channelId: string, state: JournalState): Promise<void> {
  const log = logOf(channelId);
  const first = await store.append(log, { kind: 'handled', messageIds: [...state.handled] });
  await store.append(log, { kind: 'hidden', messageIds: [...state.hidden] });
  const kept = { records: 0, texts: 0 };
  await store.rewrite(log, recordSchema, ({ sequence, record }) => {
    const isIds = record.kind === 'handled' || record.kind === 'hidden';
    const stands = isIds ? sequence >= first : stillStands(state, record);
    if (!stands) return undefined;
    kept.records += 1;
    kept.texts += record.kind === 'prepared' ? 1 : 0;
    return record;
  });
  Object.assign(state, kept);
}
