import type { RecentChanges } from '../core/changes.ts';
import { RefusedJobError, type KeyedQueue } from '../core/keyed-queue.ts';
import { growingCache, limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { Store } from '../core/store.ts';
import { guildOfPlace, type ChannelGuild, type SessionKey } from '../core/place.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { processTimer, type Timer } from '../core/time.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import { createJournalLogs, type Dropping } from './journal-logs.ts';
import type { BegunReply, JournalRecord, JournalState, PreparedReply } from './journal-state.ts';

/** What an erased person asked is over long before there were so many. */
const rememberedErasings = 10_000;

export type ChannelJournal = ReturnType<typeof createChannelJournal>;

/**
 * What the bot did in a channel, on disk, so that a restart answers neither twice nor never [G3], and
 * commands, their answers and error lines stay out of history [F2]. One log a channel:
 * `channels/<channelId>/journal.jsonl`.
 */
export function createChannelJournal({
  store,
  changes,
  timer = processTimer,
}: {
  readonly store: Store;
  readonly changes: Pick<RecentChanges, 'latest'>;
  readonly timer?: Timer;
}) {
  /** When people had everything erased since the start, in milliseconds since the epoch. */
  const erasedAt = growingCache<string, number>(rememberedErasings);

  /** Whether a person has had erased what this answers. */
  function isErased({ userId, messageIds }: Pick<PreparedReply, 'userId' | 'messageIds'>): boolean {
    const at = erasedAt.get(userId);
    return at !== undefined && messageIds.every((id) => snowflakeTime(id).getTime() < at);
  }

  const logs = createJournalLogs(store, isErased, timer);
  const { stateOf } = logs;

  async function write(channelId: string, record: JournalRecord): Promise<void> {
    const state = await logs.add(channelId, record);
    const isDue = state.erasesTexts && record.kind === 'handled' && state.texts > state.prepared.size;
    if (isDue) await logs.dropDone(channelId, state);
    if (state.records > 4 * limits.journalIds) await logs.compact(channelId, state);
  }

  /** Removes texts of answers: sent ones, those that `isGone` picks, and those on their way once sent. */
  async function eraseTexts(
    channelId: string,
    { isGone = () => false }: Pick<Dropping, 'isGone'> = {},
  ): Promise<void> {
    const less = (state: JournalState): JournalState => {
      for (const [key, reply] of state.prepared) if (isGone(reply)) state.prepared.delete(key);
      return state;
    };
    let state = less(await stateOf(channelId));
    if (state.prepared.size > 0 && !state.erasesTexts)
      state = less(await logs.add(channelId, { kind: 'erasing' }));
    if (state.texts > state.prepared.size) await logs.dropDone(channelId, state, { isGone });
  }

  async function channelsWithJournal(): Promise<readonly string[]> {
    return (await store.folders('channels', 'journal.jsonl')).map(({ name }) => name);
  }

  /** Which messages are hidden from history, including the beginning of an unfinished reply. */
  async function hiddenIn(channelId: string): Promise<(messageId: string) => boolean> {
    const { hidden, begun } = await stateOf(channelId);
    const beginnings = new Set([...begun.values()].flatMap(({ replyIds }) => replyIds));
    return (messageId) => hidden.has(messageId) || beginnings.has(messageId);
  }

  return {
    isHandled: async (channelId: string, messageId: string) =>
      (await stateOf(channelId)).handled.has(messageId),
    hiddenIn,
    isHidden: async (channelId: string, messageId: string): Promise<boolean> =>
      (await hiddenIn(channelId))(messageId),
    /**
     * Keeps the answer until `markHandled`: after a crash it is sent again under the same nonce. An answer to
     * an edited, deleted or forgotten message is not kept, as it may repeat it; after a crash the message is
     * asked again, unless it was forgotten.
     */
    async prepare(reply: PreparedReply): Promise<void> {
      const { channelId } = reply.place;
      if (reply.messageIds.some((id) => changes.latest(id) !== undefined) || isErased(reply)) return;
      // A command is hidden as such; any other message only once it is forgotten.
      const { hidden } = await stateOf(channelId);
      if (reply.isCommand !== true && reply.messageIds.some((id) => hidden.has(id))) return;
      await write(channelId, { kind: 'prepared', ...reply });
    },
    /** Notes a growing reply's messages, until `markHandled`, for continuing in them. */
    async begin(reply: BegunReply): Promise<void> {
      if (isErased(reply)) return;
      // Before anybody sees it: what is left behind must never look like a whole reply.
      await write(reply.place.channelId, { kind: 'begun', ...reply });
    },
    /** The messages have their reply, or will get none. */
    markHandled: (channelId: string, messageIds: readonly string[]) =>
      write(channelId, { kind: 'handled', messageIds: [...messageIds] }),
    /** These messages never enter history. */
    hide: (channelId: string, messageIds: readonly string[]) =>
      write(channelId, { kind: 'hidden', messageIds: [...messageIds] }),
    /** These messages are part of history again [K5]. */
    unhide: (channelId: string, messageIds: readonly string[]) =>
      write(channelId, { kind: 'unhidden', messageIds: [...messageIds] }),
    /** The channel is deleted: Discord will be asked for nothing there [G3d]. */
    markGone: (channelId: string) => write(channelId, { kind: 'gone' }),
    isGone: async (channelId: string) => (await stateOf(channelId)).isGone,
    /** Removes answers' texts once they are sent, so that none outlives a deletion [G5]. */
    eraseSentTexts: (channelId: string): Promise<void> => eraseTexts(channelId),
    /** After an edit or deletion: the same, and drops withdrawn answers that are not sent yet [G5]. */
    withdraw: (channelId: string, isWithdrawn: (reply: PreparedReply) => boolean): Promise<void> =>
      eraseTexts(channelId, { isGone: (reply) => 'text' in reply && isWithdrawn(reply) }),
    /**
     * Removes the answers to what a person said in these channels before a moment (ISO 8601), and keeps none
     * later [K11]. Resolves with those that were begun and are not whole.
     */
    async erase(
      userId: string,
      before: string,
      channelIds: readonly string[],
    ): Promise<readonly BegunReply[]> {
      erasedAt.set(userId, Date.parse(before));
      const dropped: BegunReply[] = [];
      for (const name of channelIds) {
        if (!(await logs.namesPerson(name, userId))) continue;
        const state = await stateOf(name);
        for (const [key, reply] of state.prepared) if (isErased(reply)) state.prepared.delete(key);
        for (const [key, reply] of state.begun) {
          if (!isErased(reply)) continue;
          state.begun.delete(key);
          dropped.push(reply);
        }
        await logs.dropDone(name, state, { isGone: isErased });
      }
      return dropped;
    },
    /** Another process erases; here too no answer is kept from now on. */
    noteErased: (userId: string, before: string): void => void erasedAt.set(userId, Date.parse(before)),
    /** Removes answers to messages that `isPast` picks [K15], in all channels; resolves with how many. */
    async dropPast(isPast: (messageId: string) => boolean): Promise<number> {
      let dropped = 0;
      for (const name of await channelsWithJournal()) {
        const state = await stateOf(name);
        const isGone = (reply: BegunReply | PreparedReply): boolean =>
          'text' in reply && reply.messageIds.every(isPast);
        for (const [key, reply] of state.prepared) if (isGone(reply)) state.prepared.delete(key);
        const before = state.texts;
        if (before > state.prepared.size) await logs.dropDone(name, state, { isGone });
        dropped += before - state.texts;
      }
      return dropped;
    },
    /** Removes all that is known of a channel. */
    drop: (channelId: string): Promise<void> => logs.drop(channelId),
    /** Answers in a channel whose sending was never confirmed. */
    unsent: async (channelId: string): Promise<readonly PreparedReply[]> => [
      ...(await stateOf(channelId)).prepared.values(),
    ],
    /** Unfinished replies in a channel. */
    begun: async (channelId: string): Promise<readonly BegunReply[]> => [
      ...(await stateOf(channelId)).begun.values(),
    ],
    /** Whether the reply to a message is unfinished. */
    async isUnfinished(channelId: string, messageId: string): Promise<boolean> {
      const { begun } = await stateOf(channelId);
      return [...begun.values()].some(({ messageIds }) => messageIds.includes(messageId));
    },
    /** As far as an unconfirmed answer tells: of handled messages only ids are kept. */
    async guildOf(channelId: string): Promise<ChannelGuild> {
      const { prepared, begun } = await stateOf(channelId);
      const [reply] = [...prepared.values(), ...begun.values()];
      return reply === undefined ? { kind: 'unknown' } : guildOfPlace(reply.place);
    },
    /** Channels that the bot was active in, with the last time in milliseconds since the epoch. */
    async channels(): Promise<readonly { readonly id: string; readonly activeAt: number }[]> {
      const folders = await store.folders('channels', 'journal.jsonl');
      return folders.flatMap(({ name, changedAt }) =>
        changedAt > 0 ? [{ id: name, activeAt: changedAt }] : [],
      );
    },
  };
}

/**
 * The same journal, with a person's records written in jobs of their queue, once their list names the channel
 * and unless they erased everything. So erasing finds all of it, and nothing follows [K11] [X2].
 */
export function journalInJobs(
  journal: ChannelJournal,
  {
    writes,
    begin,
    people,
  }: {
    readonly writes: Pick<KeyedQueue, 'run'>;
    /** Adds a session to the person's list, within a job of their queue. Rejects with `StoreError`. */
    readonly begin: (session: SessionKey) => Promise<void>;
    /** Must not reject. */
    readonly people: Pick<PersonSettingsStore, 'erasedBy'>;
  },
): ChannelJournal {
  function inJob(
    { userId, isBot, messageIds, place }: BegunReply | PreparedReply,
    write: () => Promise<void>,
  ) {
    if (isBot === true) return write();
    return writes.run(userId, async () => {
      const isErased = await people.erasedBy(userId);
      if (messageIds.every((id) => isErased(snowflakeTime(id).toISOString()))) return;
      await begin({ channelId: place.channelId, userId });
      await write();
    });
  }

  return {
    ...journal,
    prepare: (reply) => inJob(reply, () => journal.prepare(reply)),
    begin: (reply) => inJob(reply, () => journal.begin(reply)),
  };
}

/**
 * A write without which the conversation can go on: a disk that refuses costs memory, not the conversation
 * [E3]. Never rejects.
 */
export async function saveBestEffort(
  logger: Logger,
  what: string,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (error) {
    // Erased people's data is not to be saved.
    if (!(error instanceof RefusedJobError)) logger.error('could not be saved', { what, error });
  }
}
