import { z } from 'zod';

import type { RecentChanges } from '../core/changes.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { lruCache, limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import { placeSchema, type ChannelGuild, type SessionKey } from '../core/place.ts';
import { allShards, hasGuild, type Shards } from '../core/processes.ts';
import { buttonSchema } from '../core/reply.ts';
import { compareSnowflakes, snowflakeTime } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import { RefusedJobError, type Work, type Writes } from '../core/writes.ts';
import type { PersonSettingsStore } from '../memory/settings/person-settings.ts';
import { readAllWithheld, readWithheld } from '../memory/withheld.ts';

const question = {
  messageIds: z.array(z.string()).min(1),
  userId: z.string(),
  speakerName: z.string(),
  isBot: z.literal(true).optional(),
  /** By `/ask` [EW2]: the question is in the log only, and what was shown of the reply is out of reach after a restart. */
  isAsked: z.literal(true).optional(),
  /** Of an `/ask`, the first shard of the process that took it: its place tells nothing of that [X3]. */
  shard: z.number().int().nonnegative().optional(),
  place: placeSchema,
};

const preparedSchema = z.object({
  ...question,
  /** The answer to a command; not part of history [F2]. */
  isCommand: z.literal(true).optional(),
  text: z.string(),
  footer: z
    .object({ lines: z.array(z.string()).readonly(), buttons: z.array(buttonSchema).readonly() })
    .optional(),
  /** As the log is to have it; absent for a command's answer. */
  thirdPartyMark: z.string().optional(),
});

const unfinishedSchema = z.object({
  ...question,
  /** The reply's messages, in order. */
  replyIds: z.array(z.string()),
});

/** An answer that is ready but not confirmed as sent. */
export type PreparedReply = z.infer<typeof preparedSchema>;

/** An answer that people saw begin, not confirmed as whole. */
export type UnfinishedReply = z.infer<typeof unfinishedSchema>;

type AnyReply = Pick<UnfinishedReply, 'isAsked' | 'shard' | 'place'>;

const outboxSchema = z.object({
  version: z.literal(1),
  handledIds: z.array(z.string()).readonly(),
  hiddenIds: z.array(z.string()).readonly(),
  unsent: z.array(preparedSchema).readonly(),
  unfinished: z.array(unfinishedSchema).readonly(),
  /** Where the bot last answered there; absent in a DM. */
  guildId: z.string().optional(),
});

type OutboxDocument = z.infer<typeof outboxSchema>;

/** Without effects; applied twice it does the same. */
type OutboxChange = (outbox: OutboxDocument) => OutboxDocument;

const kind = { version: 1, schema: outboxSchema };
const empty: OutboxDocument = { version: 1, handledIds: [], hiddenIds: [], unsent: [], unfinished: [] };
const outboxFile = 'outbox.json';

/** Channels with changes that the disk refused. */
const refusedChannels = 250;
export type Outbox = ReturnType<typeof createOutbox>;

/** Where what is kept of a person is part of work for them. */
export interface PersonalOutbox extends Omit<Outbox, 'prepare' | 'begin'> {
  prepare(reply: PreparedReply & { readonly work: Work }): Promise<void>;
  begin(reply: UnfinishedReply & { readonly work: Work }): Promise<void>;
}

/**
 * What the bot did in a channel, on disk, so that a restart answers neither twice nor never [G3], and
 * commands, their answers and error lines stay out of history [F2]. One document a channel, which other
 * processes may change too. A reply that leaves it leaves the disk [S7].
 */
export function createOutbox(options: {
  readonly store: Store;
  readonly changes: Pick<RecentChanges, 'latest'>;
  /** Of this process. Default: it has them all. */
  readonly shards?: Shards;
}) {
  const { store, changes, shards = allShards } = options;
  /** What the disk refused, by channel, oldest first: known all the same, and stored with the next change. */
  const refused = lruCache<string, readonly OutboxChange[]>(refusedChannels);
  const inOrder = createKeyedQueue();

  const withRefused = (channelId: string, stored = empty): OutboxDocument =>
    (refused.get(channelId) ?? []).reduce((outbox, apply) => apply(outbox), stored);

  const outboxOf = async (channelId: string): Promise<OutboxDocument> =>
    withRefused(channelId, await store.read(keyOf(channelId), kind));

  const withShard = <Reply extends AnyReply>(reply: Reply): Reply =>
    reply.isAsked === true ? { ...reply, shard: shards.ids[0] } : reply;

  /** What one process began, only that one finishes [X3]. There may be fewer shards since. */
  const isOurs = ({ isAsked, shard = 0, place }: AnyReply): boolean =>
    isAsked === true ? shards.ids.includes(shard % shards.count) : hasGuild(shards, place.guildId);

  /** Stores what was refused and the change. What it takes away is erased. */
  async function save(channelId: string, apply: OutboxChange): Promise<void> {
    let erase = false;
    const applyAll = (stored: OutboxDocument | undefined): OutboxDocument | undefined => {
      const next = apply(withRefused(channelId, stored));
      erase = replyKeys(stored).some((key) => !replyKeys(next).includes(key));
      return next === empty ? stored : next;
    };
    await store.update(keyOf(channelId), kind, applyAll, { erase: () => erase });
    refused.delete(channelId);
  }

  /** Where the disk refuses it, nothing is changed. */
  const change = (channelId: string, apply: OutboxChange): Promise<void> =>
    inOrder.run(channelId, () => save(channelId, apply));

  /** Where the disk refuses it, this rejects, but the change is known and stored with the channel's next one. */
  const record = (channelId: string, apply: OutboxChange): Promise<void> =>
    inOrder.run(channelId, async () => {
      try {
        await save(channelId, apply);
      } catch (error) {
        refused.set(channelId, [...(refused.get(channelId) ?? []), apply].slice(-limits.outboxIds));
        throw error;
      }
    });

  /** Drops answers that are ready but not sent, such as those to what was edited or deleted [G5]; resolves with how many. */
  async function deleteUnsent(channelId: string, isOver: (reply: PreparedReply) => boolean): Promise<number> {
    const over = (await outboxOf(channelId)).unsent.filter(isOver);
    if (over.length > 0)
      await change(channelId, (outbox) => ({
        ...outbox,
        unsent: outbox.unsent.filter((reply) => !isOver(reply)),
      }));
    return over.length;
  }

  /** Removes all that is known of a channel. */
  async function drop(channelId: string): Promise<void> {
    refused.delete(channelId);
    await store.removeAll(`channels/${channelId}`);
  }

  /** Which messages are hidden from history: what is withheld of anybody too, and the beginning of an unfinished reply. */
  async function hiddenIn(channelId: string): Promise<(messageId: string) => boolean> {
    const [{ hiddenIds, unfinished }, { touches }] = await Promise.all([
      outboxOf(channelId),
      readAllWithheld(store),
    ]);
    const ids = new Set([...hiddenIds, ...unfinished.flatMap(({ replyIds }) => replyIds)]);
    return (messageId) => ids.has(messageId) || touches(messageId);
  }

  return {
    isHandled: async (channelId: string, messageId: string) =>
      (await outboxOf(channelId)).handledIds.includes(messageId),
    hiddenIn,
    isHidden: async (channelId: string, messageId: string): Promise<boolean> =>
      (await hiddenIn(channelId))(messageId),
    /**
     * Keeps the answer until `markHandled`: after a crash it is sent again under the same nonce. An answer to
     * an edited, deleted or forgotten message is not kept, as it may repeat it; after a crash the message is
     * asked again, unless it was forgotten.
     */
    async prepare(this: void, reply: PreparedReply): Promise<void> {
      const { messageIds, isCommand } = reply;
      const { touches } = await readWithheld(store, reply.userId);
      await change(reply.place.channelId, (outbox) => {
        const isChanged = messageIds.some((id) => changes.latest(id) !== undefined);
        const isHidden = (id: string): boolean => touches(id) || outbox.hiddenIds.includes(id);
        // A command is hidden as such; any other message only once it is forgotten.
        const isForgotten = isCommand !== true && messageIds.some(isHidden);
        if (isChanged || isForgotten) return outbox;
        const others = outbox.unsent.filter((each) => idsOf(each) !== idsOf(reply));
        return { ...outbox, guildId: reply.place.guildId, unsent: [...others, withShard(reply)] };
      });
    },
    /**
     * Records a growing reply's messages, until `markHandled`, for continuing in them. Called before anybody
     * sees it: what is left behind must never look like a whole reply.
     */
    begin: (reply: UnfinishedReply): Promise<void> =>
      change(reply.place.channelId, (outbox) => {
        // It continues what stood there for any of its messages.
        const others = outbox.unfinished.filter((each) => !reply.messageIds.includes(newestOf(each)));
        return { ...outbox, guildId: reply.place.guildId, unfinished: [...others, withShard(reply)] };
      }),
    /** The messages have their reply, or will get none. */
    markHandled: (channelId: string, ids: readonly string[]) =>
      record(channelId, (outbox) => ({
        ...outbox,
        handledIds: newest(outbox.handledIds, ids),
        // An unsent answer's messages may have got another one, together with others or alone.
        unsent: outbox.unsent.filter(({ messageIds }) => !messageIds.some((id) => ids.includes(id))),
        unfinished: outbox.unfinished.filter((reply) => !ids.includes(newestOf(reply))),
      })),
    /** These messages never enter history. */
    hide: (channelId: string, ids: readonly string[]) =>
      record(channelId, (outbox) => ({ ...outbox, hiddenIds: newest(outbox.hiddenIds, ids) })),
    deleteUnsent,
    /**
     * Removes the answers to what a person said in these channels before a moment, ISO 8601 [K11]. Resolves with
     * those that were begun and are not whole.
     */
    async erase(userId: string, before: string, channelIds: readonly string[]) {
      const at = Date.parse(before);
      const isErased = (reply: Pick<PreparedReply, 'userId' | 'messageIds'>): boolean =>
        reply.userId === userId && reply.messageIds.every((id) => snowflakeTime(id).getTime() < at);
      const erased: UnfinishedReply[] = [];
      for (const id of channelIds) {
        const { unsent, unfinished } = await outboxOf(id);
        const all = [...unsent, ...unfinished];
        // Where direct messages are closed, the place has the person's id [EW2].
        const isGone = id === userId && all.every(isErased);
        if (isGone) await drop(id);
        if (isGone || !all.some(isErased)) continue;
        await change(id, (outbox) => ({
          ...outbox,
          unsent: outbox.unsent.filter((reply) => !isErased(reply)),
          unfinished: outbox.unfinished.filter((reply) => !isErased(reply)),
        }));
        erased.push(...unfinished.filter(isErased));
      }
      return erased;
    },
    /** Removes answers to messages that `isPast` picks [K15], in all channels; resolves with how many. */
    async dropPast(isPast: (messageId: string) => boolean): Promise<number> {
      let dropped = 0;
      for (const { name } of await store.folders('channels', outboxFile))
        dropped += await deleteUnsent(name, ({ messageIds }) => messageIds.every(isPast));
      return dropped;
    },
    drop,
    /** Answers of this process in a channel whose sending was never confirmed. */
    unsent: async (channelId: string): Promise<readonly PreparedReply[]> =>
      (await outboxOf(channelId)).unsent.filter(isOurs),
    /** Replies of this process in a channel that were begun and are not confirmed as whole. */
    unfinished: async (channelId: string): Promise<readonly UnfinishedReply[]> =>
      (await outboxOf(channelId)).unfinished.filter(isOurs),
    /** Whether the reply to a message is unfinished. */
    isUnfinished: async (channelId: string, messageId: string): Promise<boolean> =>
      (await outboxOf(channelId)).unfinished.some(({ messageIds }) => messageIds.includes(messageId)),
    /** As far as answers there tell, also those that are confirmed. */
    async guildOf(channelId: string): Promise<ChannelGuild> {
      const { guildId, unsent, unfinished } = await outboxOf(channelId);
      if (guildId !== undefined) return { kind: 'guild', guildId };
      return unsent.length + unfinished.length > 0 ? { kind: 'dm' } : { kind: 'unknown' };
    },
    /** Channels that the bot was active in, with the last time in milliseconds since the epoch. */
    async channels(): Promise<readonly { readonly id: string; readonly activeAt: number }[]> {
      const folders = await store.folders('channels', outboxFile);
      return folders.flatMap(({ name, changedAt }) =>
        changedAt > 0 ? [{ id: name, activeAt: changedAt }] : [],
      );
    },
  };
}

function keyOf(channelId: string): string {
  return `channels/${channelId}/${outboxFile}`;
}

function idsOf({ messageIds }: PreparedReply): string {
  return messageIds.join(' ');
}

/** The message that the reply points to. */
export function newestOf({ messageIds }: { readonly messageIds: readonly string[] }): string {
  const id = messageIds.at(-1);
  if (id === undefined) throw new RangeError('A reply answers at least one message');
  return id;
}

/** A reply keeps its key while it grows. */
function replyKeys({ unsent, unfinished }: OutboxDocument = empty): readonly string[] {
  return [
    ...unsent.map((reply) => `unsent ${idsOf(reply)}`),
    ...unfinished.map((reply) => `unfinished ${newestOf(reply)}`),
  ];
}

/** The newest ids by their own time, each once: what is read of a channel is its newest messages. */
function newest(ids: readonly string[], added: readonly string[]): readonly string[] {
  return [...new Set([...ids, ...added])].toSorted(compareSnowflakes).slice(-limits.outboxIds);
}

/**
 * The same outbox, with a person's records written in jobs of their queue, once their list names the channel
 * and unless they erased everything. So erasing finds all of it, and nothing follows [K11] [X2].
 */
export function outboxInJobs(
  outbox: Outbox,
  ports: {
    readonly writes: Pick<Writes, 'run'>;
    /** Adds a session to the person's list, within a job of their queue. Rejects with `StoreError`. */
    readonly begin: (session: SessionKey) => Promise<void>;
    /** Must not reject. */
    readonly people: Pick<PersonSettingsStore, 'erasedBy'>;
  },
): PersonalOutbox {
  function inJob<Reply extends UnfinishedReply | PreparedReply>(
    { work, ...reply }: Reply & { readonly work: Work },
    write: (reply: Omit<Reply & { readonly work: Work }, 'work'>) => Promise<void>,
  ): Promise<void> {
    const { userId, isBot, messageIds, place } = reply;
    if (isBot === true) return write(reply);
    return ports.writes.run(work, async () => {
      const isErased = await ports.people.erasedBy(userId);
      if (messageIds.every((id) => isErased(snowflakeTime(id).toISOString()))) return;
      await ports.begin({ channelId: place.channelId, userId });
      await write(reply);
    });
  }

  return {
    ...outbox,
    prepare: (reply) => inJob<PreparedReply>(reply, outbox.prepare),
    begin: (reply) => inJob<UnfinishedReply>(reply, outbox.begin),
  };
}

interface BestEffort<Part extends keyof Outbox> {
  readonly outbox: Pick<Outbox, Part>;
  readonly logger: Logger;
}

/** The messages have their reply, or get none. Never rejects. */
export function markHandled(
  { outbox, logger }: BestEffort<'markHandled'>,
  channelId: string,
  messageIds: readonly string[],
): Promise<void> {
  return saveBestEffort(logger, 'that a message was handled', () =>
    outbox.markHandled(channelId, messageIds),
  );
}

/** These messages never enter history. Never rejects. */
export function hideFromHistory(
  { outbox, logger }: BestEffort<'hide'>,
  channelId: string,
  ids: readonly string[],
): Promise<void> {
  return saveBestEffort(logger, 'messages hidden from history', () => outbox.hide(channelId, ids));
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
