import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import { placeSchema } from '../core/place.ts';
import { compareSnowflakes } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';

/** How many handled and hidden ids a channel keeps: more than history or catch-up ever look back. */
const keptIds = 500;
const loadedChannels = 500;

const preparedSchema = z.object({
  kind: z.literal('prepared'),
  messageIds: z.array(z.string()).min(1),
  userId: z.string(),
  speakerName: z.string(),
  isBot: z.literal(true).exactOptional(),
  /** The answer to a command, which is no part of history [F2]. */
  isCommand: z.literal(true).exactOptional(),
  place: placeSchema,
  text: z.string(),
});

const recordSchema = z.discriminatedUnion('kind', [
  preparedSchema,
  z.object({ kind: z.literal('handled'), messageIds: z.array(z.string()) }),
  z.object({ kind: z.literal('hidden'), messageIds: z.array(z.string()) }),
]);
type JournalRecord = z.infer<typeof recordSchema>;

/** An answer that is ready but was not yet seen to be sent. */
export type PreparedReply = Omit<z.infer<typeof preparedSchema>, 'kind'>;

/**
 * What the bot did in a channel, on disk, so that a restart neither answers twice nor forgets to answer [G3], and so that
 * commands, their answers and error lines stay out of history [F2]. One log a channel: `channels/<channelId>/journal.jsonl`.
 */
export interface ChannelJournal {
  isHandled(channelId: string, messageId: string): Promise<boolean>;
  isHidden(channelId: string, messageId: string): Promise<boolean>;
  /** Keeps the answer until `markHandled`: what was prepared is sent again after a crash, under the same nonce. */
  prepare(reply: PreparedReply): Promise<void>;
  /** The messages have their reply, or will get none. */
  markHandled(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** These messages never enter history. */
  hide(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Takes the texts of answers that were sent out of the channel's file, so that none outlives a deletion there [G5]. */
  dropSentTexts(channelId: string): Promise<void>;
  /** Answers prepared in a channel whose sending was never confirmed. */
  unsent(channelId: string): Promise<readonly PreparedReply[]>;
  /** Channels that the bot has been active in. */
  channels(): Promise<readonly string[]>;
}

interface ChannelState {
  readonly handled: Set<string>;
  readonly hidden: Set<string>;
  readonly prepared: Map<string, PreparedReply>;
  /** Records in the file, and those among them that hold an answer. */
  records: number;
  texts: number;
}

export function createChannelJournal({ store }: { store: Store }): ChannelJournal {
  const loaded = new LRUCache<string, Promise<ChannelState>>({ max: loadedChannels });

  function stateOf(channelId: string): Promise<ChannelState> {
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
    apply(state, record);
    await store.append(logOf(channelId), record);
    count(state, record);
    if (state.records > 4 * keptIds) await compact(store, channelId, state);
  }

  return {
    isHandled: async (channelId, messageId) => (await stateOf(channelId)).handled.has(messageId),
    isHidden: async (channelId, messageId) => (await stateOf(channelId)).hidden.has(messageId),
    prepare: (reply) => write(reply.place.channelId, { kind: 'prepared', ...reply }),
    markHandled: (channelId, messageIds) =>
      write(channelId, { kind: 'handled', messageIds: [...messageIds] }),
    hide: (channelId, messageIds) => write(channelId, { kind: 'hidden', messageIds: [...messageIds] }),
    async dropSentTexts(channelId) {
      const state = await stateOf(channelId);
      if (state.texts > state.prepared.size) await compact(store, channelId, state);
    },
    unsent: async (channelId) => [...(await stateOf(channelId)).prepared.values()],
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

async function load(store: Store, channelId: string): Promise<ChannelState> {
  const state: ChannelState = {
    handled: new Set(),
    hidden: new Set(),
    prepared: new Map(),
    records: 0,
    texts: 0,
  };
  for await (const { record } of store.scan(logOf(channelId), recordSchema)) {
    apply(state, record);
    count(state, record);
  }
  return state;
}

function count(state: ChannelState, { kind }: JournalRecord): void {
  state.records += 1;
  if (kind === 'prepared') state.texts += 1;
}

function apply(state: ChannelState, record: JournalRecord): void {
  switch (record.kind) {
    case 'prepared': {
      const { kind: _, ...reply } = record;
      state.prepared.set(replyKey(record.messageIds), reply);
      return;
    }
    case 'handled':
      // After an answer could not be sent, its messages may have got another one, together with others or alone.
      for (const [key, { messageIds }] of state.prepared) {
        if (messageIds.some((id) => record.messageIds.includes(id))) state.prepared.delete(key);
      }
      keepNewest(state.handled, record.messageIds);
      return;
    case 'hidden':
      keepNewest(state.hidden, record.messageIds);
  }
}

function replyKey(messageIds: readonly string[]): string {
  return messageIds.join(' ');
}

function keepNewest(ids: Set<string>, added: readonly string[]): void {
  for (const id of added) ids.add(id);
  if (ids.size <= keptIds) return;
  const newest = [...ids].toSorted(compareSnowflakes).slice(-keptIds);
  ids.clear();
  for (const id of newest) ids.add(id);
}

/**
 * Drops the records that say nothing any more; the newest ids are kept in single records. What other turns write to the file
 * meanwhile, be it between those two, stays.
 */
async function compact(store: Store, channelId: string, state: ChannelState): Promise<void> {
  const log = logOf(channelId);
  const first = await store.append(log, { kind: 'handled', messageIds: [...state.handled] });
  await store.append(log, { kind: 'hidden', messageIds: [...state.hidden] });
  const kept = { records: 0, texts: 0 };
  await store.rewrite(log, recordSchema, ({ sequence, record }) => {
    const isText = record.kind === 'prepared';
    const stands = isText ? state.prepared.has(replyKey(record.messageIds)) : sequence >= first;
    if (!stands) return undefined;
    kept.records += 1;
    kept.texts += isText ? 1 : 0;
    return record;
  });
  Object.assign(state, kept);
}
