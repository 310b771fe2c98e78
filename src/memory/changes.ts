import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { messageChangeSchema, type MessageChange, type RecentChanges } from '../core/changes.ts';
import type { ChannelPort } from '../core/channels.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import { sessionName, type SessionKey } from '../core/place.ts';
import type { Notice, Processes } from '../core/processes.ts';
import { maskSecrets } from '../core/secrets.ts';
import { isYounger } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';
import { reachIn } from '../core/visibility.ts';
import { unconditional, type Writes } from '../core/writes.ts';
import {
  personOf,
  purgedSchema,
  type LayerChange,
  type MemoryLayer,
  type Purged,
  type Withdrawn,
  type WithdrawnMessage,
} from './layer.ts';
import { idsOf, type LoggedMessage } from './log/records.ts';
import type { SessionLog } from './log/session-log.ts';
import { saysAny, withdrawnTerms } from './log/withdrawal.ts';
import type { MessagesByChannel } from './undo.ts';

/** Messages of one conversation that are older than people's words are kept [K15]. */
const expiredSchema = z.object({
  kind: z.literal('expired'),
  userId: z.string(),
  channelId: z.string(),
  messageIds: z.array(z.string()).readonly(),
});
type Expired = z.infer<typeof expiredSchema>;

/** A person had all that is held about them erased [K11]; what was said before `at`, ISO 8601, is used no more. */
const erasedSchema = z.object({ kind: z.literal('erased'), userId: z.string(), at: z.string() });
type Erased = z.infer<typeof erasedSchema>;

const changeSchema = z.discriminatedUnion('kind', [
  messageChangeSchema,
  purgedSchema,
  expiredSchema,
  erasedSchema,
]);

/** A change that has not reached every layer yet. */
type Change = Readonly<z.infer<typeof changeSchema>>;

/** How what Discord or time takes away is carried out. */
const ofMessages = { isRetried: true, isGivenUp: true };

/**
 * How each kind of change is carried out. `steps`: the order in which layers hide words and messages. `isRetried`: every minute, while a layer cannot follow. `isGivenUp`: the next start is the last try.
 */
const ways = {
  edited: ofMessages,
  deleted: ofMessages,
  expired: { ...ofMessages, steps: ['messages'] },
  purged: { isRetried: true, isGivenUp: false, steps: ['messages', 'words'] },
  erased: { isRetried: false, isGivenUp: false },
} as const;

/** The outbox of a channel, as far as changes reach it. */
export interface AnswerKeeper {
  /** Drops answers that were not sent yet. */
  deleteUnsent(
    channelId: string,
    isWithdrawn: (answer: {
      readonly messageIds: readonly string[];
      readonly text: string;
      readonly footer?: { readonly lines: readonly string[] } | undefined;
    }) => boolean,
  ): Promise<unknown>;
  /** Hides these messages from history, though they stay on Discord. */
  hide(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** These messages get no answer any more, even if Discord sends them again. */
  markHandled(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Deletes answers to what a person said in these channels before a moment, ISO 8601, unfinished ones too. */
  erase(userId: string, before: string, channelIds: readonly string[]): Promise<unknown>;
}

export interface ChangeLedgerPorts {
  readonly store: Pick<Store, 'append' | 'scan' | 'rewrite' | 'remove' | 'removeAll' | 'list'>;
  readonly recent: RecentChanges;
  /** The users' write queue [S3]. */
  readonly writes: Pick<Writes, 'run'>;
  readonly log: Pick<
    SessionLog,
    'sessionsOf' | 'affected' | 'message' | 'everyOfPerson' | 'sessionsOfPerson' | 'mentions'
  >;
  /** All of them, the log first, on or off. */
  readonly layers: readonly MemoryLayer[];
  readonly answers: AnswerKeeper;
  /** Whether what a person wrote in a conversation, by default now, may be written down [K9]. Must not reject. */
  readonly mayStore: (session: SessionKey, at?: string) => Promise<boolean>;
  readonly placeOf: ChannelPort['placeOf'];
  /** A session has changed: rebuild what was derived from it. */
  readonly changed: (session: SessionKey) => void;
  /**
   * Ends what runs and waits here for an erased person, and evicts what is kept of them in memory. What waits for
   * other processes too is dropped only by the one that erases. Must not throw.
   */
  readonly endWork: (userId: string, erasedBy: 'here' | 'elsewhere') => void;
  /** Resolves when a person's turns that run or wait are over; `undefined` without any. Must not reject. */
  readonly turnsOver?: ((userId: string) => Promise<unknown> | undefined) | undefined;
  /** Keeps the moment of an erasing. As part of a job of the person's queue. Rejects with `StoreError`. */
  readonly noteErased: (userId: string, at: string) => Promise<void>;
  readonly processes: Processes;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

/** The layers that could not follow a change yet, with the reason; the ledger keeps it open for them. */
export type Failures = ReadonlyMap<string, unknown>;
type FailuresSoFar = Map<string, unknown>;

/** Messages that go with something of a person. */
interface WithMessages {
  readonly userId: string;
  readonly messages?: MessagesByChannel | undefined;
}

interface Deletion {
  readonly session: SessionKey;
  readonly cause: Extract<MessageChange, { kind: 'deleted' }>;
}

/** A change under way. */
interface Entry<T extends Change = Change> {
  readonly change: T;
  /** What `RecentChanges` notes of its message after this position comes after it. */
  since: number;
  /** A layer that cannot follow holds up the others no more. */
  readonly isLastTry: boolean;
  /** Where it is on disk, and how many entered a ledger before it. */
  stored?: { readonly ledger: string; readonly sequence: number; readonly order: number };
  /** It only has to leave the disk. */
  isDone?: true;
}

/** What became of a change, and how many messages went with it, answers included. */
interface Outcome {
  readonly failures: Failures;
  readonly messages: number;
}

/** Until a change is tried again that the disk came between; milliseconds. */
const againMs = 60_000;
/** There is one ledger a process. */
const ledgersFolder = 'changes';

export type ChangeLedger = ReturnType<typeof createChangeLedger>;

/**
 * The one way in which a change reaches all that holds words [F5]: memory at once, then the disk, then every layer
 * in the person's write queue, which hides the words and then deletes them. What a kill or the disk came between
 * stays in the ledger for the next start, or another process [X2].
 */
export function createChangeLedger(ports: ChangeLedgerPorts) {
  const { store, recent, writes, log, layers, answers, processes, clock, timer, logger } = ports;
  /** Named by time, so that they are listed oldest first. */
  const ownLedger = `${ledgersFolder}/${clock().getTime()}-${randomUUID()}.jsonl`;
  /** For life, so that no other process takes it for one that is left. */
  let ownClaim: Promise<unknown> | undefined;
  /** Ledgers of processes that are gone, while something in them is open. */
  const adopted = new Map<string, { release(): Promise<void> }>();
  const open = new Set<Entry>();
  let entered = 0;
  let finishing: Promise<void> | undefined;
  let isStopped = false;
  let cancelWatch: (() => void) | undefined;
  const order = createKeyedQueue();
  /** People who are being erased. */
  const erasing = new Map<string, Promise<unknown>>();

  /** Resolves when it is on disk. Rejects with `StoreError`. */
  async function enter(entry: Entry): Promise<void> {
    if (entry.stored !== undefined) return;
    ownClaim ??= processes.locks.claim(ownLedger);
    ownClaim.catch(() => (ownClaim = undefined));
    await ownClaim;
    const sequence = await store.append(ownLedger, entry.change);
    entry.stored = { ledger: ownLedger, sequence, order: (entered += 1) };
    open.add(entry);
  }

  /** It is done, and so are earlier ones that it makes pointless. Never rejects. */
  async function close(entry: Entry): Promise<void> {
    const { order: own = Infinity } = entry.stored ?? {};
    for (const each of open)
      if (each === entry || ((each.stored?.order ?? 0) < own && isSupersededBy(each.change, entry.change)))
        each.isDone = true;
    await removeDone();
  }

  async function removeDone(): Promise<void> {
    const done = [...open].filter(({ isDone }) => isDone === true);
    for (const ledger of new Set(done.map(({ stored }) => stored?.ledger ?? '')))
      await removeFrom(
        ledger,
        done.filter(({ stored }) => stored?.ledger === ledger),
      ).catch((error: unknown) => {
        logger.error('could not be saved', { what: 'that a change is done', error });
      });
  }

  async function removeFrom(ledger: string, removed: readonly Entry[]): Promise<void> {
    const sequences = new Set(removed.map(({ stored }) => stored?.sequence));
    await store.rewrite(ledger, changeSchema, (stored) =>
      sequences.has(stored.sequence) ? undefined : stored.record,
    );
    for (const entry of removed) open.delete(entry);
    await releaseIfEmpty(ledger);
  }

  async function releaseIfEmpty(ledger: string): Promise<void> {
    const claim = adopted.get(ledger);
    if (claim === undefined || [...open].some(({ stored }) => stored?.ledger === ledger)) return;
    await store.remove(ledger);
    adopted.delete(ledger);
    await claim.release();
  }

  async function adopt(ledger: string): Promise<readonly Entry[]> {
    await releaseIfEmpty(ledger);
    if (ledger === ownLedger || adopted.has(ledger)) return [];
    const claim = await processes.locks.claim(ledger);
    if (claim === undefined) return [];
    const left: Entry[] = [];
    try {
      for await (const { sequence, record: change } of store.scan(ledger, changeSchema))
        left.push({
          change,
          since: 0,
          isLastTry: ways[change.kind].isGivenUp,
          stored: { ledger, sequence, order: (entered += 1) },
        });
    } catch (error) {
      await claim.release();
      throw error;
    }
    adopted.set(ledger, claim);
    for (const entry of left) open.add(entry);
    await releaseIfEmpty(ledger);
    return left;
  }

  /** Never rejects. */
  async function adoptAll(): Promise<readonly Entry[]> {
    const left: Entry[] = [];
    const found = await store.list(ledgersFolder).catch(logUnread);
    for (const { path } of found.filter((file) => file.path.endsWith('.jsonl')))
      left.push(...(await adopt(`${ledgersFolder}/${path}`).catch(logUnread)));
    return left;
  }

  function logUnread(error: unknown): readonly [] {
    logger.error('changes that were left could not be read yet', { error });
    return [];
  }

  /** Carries out a change, as a job of the person's queue where it has one person. Never rejects. */
  async function apply(entry: Entry): Promise<Outcome> {
    const { change, isLastTry } = entry;
    const { kind } = change;
    const failures: FailuresSoFar = new Map();
    let messages = 0;
    if (kind === 'erased') await applyErasing(change, failures);
    else if (kind === 'edited' || kind === 'deleted') await applyToMessages(entry, change, failures);
    else messages = await applyToPerson(entry, change, failures);
    // On the last try only the log may hold it up, since that has the words to find the rest by.
    if (failures.size === 0 || (isLastTry && !failures.has('log'))) await close(entry);
    else if (ways[kind].isRetried) retryLater(entry);
    return { failures, messages };
  }

  /** Resolves with how many messages were taken, answers included. */
  async function applyToPerson(
    entry: Entry,
    change: Purged | Expired,
    failures: FailuresSoFar,
  ): Promise<number> {
    const { kind, userId } = change;
    const attempt = attempting(failures, { kind, userId });
    let count = 0;
    for (const step of ways[kind].steps)
      await attempt('log', async () => {
        if (step === 'words' && kind !== 'expired') await follow(entry, change, failures, layers);
        if (step === 'messages')
          for (const deletion of deletionsOf({ userId, messages: await messagesOf(change) }))
            count += (await hideAndDelete(entry, deletion, failures)).length;
      });
    if (kind === 'purged')
      for (const session of await log.sessionsOfPerson(userId).catch(() => [])) ports.changed(session);
    return count;
  }

  async function messagesOf(change: Purged | Expired): Promise<MessagesByChannel> {
    if (change.kind === 'expired') return [change];
    // A kill may have come when they were hidden, and before they were deleted.
    return log.mentions(change.userId, change.words, isBefore(change.commandId), true);
  }

  /** In each conversation that has the messages. */
  async function applyToMessages(
    entry: Entry,
    change: MessageChange,
    failures: FailuresSoFar,
  ): Promise<void> {
    const { kind, channelId } = change;
    const attemptOne = attempting(failures, { kind, channelId });
    /** What cannot be looked at holds up nothing else. */
    const attempt = async (work: () => Promise<unknown>): Promise<void> => {
      if (!(await attemptOne('log', work))) await enter(entry).catch(() => undefined);
    };
    let isKnown = false;
    await attempt(async () => {
      for (const { session, isHeld } of await conversationsOf(change))
        await attempt(() =>
          writes.run(unconditional(session.userId), async () => {
            const messages = await hideAndDelete(entry, { session, cause: change }, failures, isHeld);
            isKnown ||= isHeld || messages.length > 0;
          }),
        );
    });
    if (!isKnown) await attempt(() => deleteAnswers(answers, change, []));
  }

  /** Takes messages, answers included, out of a conversation. Without any, unless `isHeld`, nothing is on disk. */
  async function hideAndDelete(
    entry: Entry,
    { session, cause }: { readonly session: SessionKey; readonly cause: MessageChange },
    failures: FailuresSoFar,
    isHeld = false,
  ): Promise<readonly WithdrawnMessage[]> {
    const messages = await log.affected(session, cause);
    if (messages.length === 0 && !isHeld) return messages;
    // First, since after a kill nobody would delete what the log hides.
    await enter(entry);
    const { kind } = entry.change;
    const isForgetting = kind === 'edited' || kind === 'deleted' ? undefined : true;
    const withdrawn: Withdrawn = { kind: 'withdrawn', session, messages, cause, isForgetting };
    await follow(entry, withdrawn, failures, holdersOf(messages));
    ports.changed(session);
    if (kind === 'purged') await hideFromHistory(session, cause, messages);
    return messages;
  }

  /** They stay on Discord, where they would be read again, or answered. */
  async function hideFromHistory(
    { channelId }: SessionKey,
    cause: MessageChange,
    messages: readonly WithdrawnMessage[],
  ): Promise<void> {
    const ids = [...messageIdsOf(cause), ...messages.flatMap(({ before }) => idsOf(before))];
    await answers.hide(channelId, [...new Set(ids)]);
    const replies = messages.map(({ before }) => (before.role === 'user' ? [] : before.replyTo));
    const answered = new Set(replies.flat());
    const waiting = messageIdsOf(cause).filter((id) => !answered.has(id));
    if (waiting.length > 0) await answers.markHandled(channelId, waiting);
  }

  async function applyErasing(change: Erased, failures: FailuresSoFar): Promise<void> {
    const { userId } = change;
    processes.notices.tell({ kind: 'erased', userId, isDone: false });
    ports.endWork(userId, 'here');
    recent.dropTextsOf(userId);
    await attempting(failures, { kind: 'erased', userId })('log', () =>
      writes.run(unconditional(userId), () => eraseEverywhere(change, failures)),
    );
    // Something may have been read by others since the first notice.
    processes.notices.tell({ kind: 'erased', userId, isDone: true });
    logger.info('all that was held about a person was erased', { userId, isDone: failures.size === 0 });
  }

  /** The person's own folder tells where the rest is, so it goes last: what a kill came before is found again. */
  async function eraseEverywhere({ userId, at }: Erased, failures: FailuresSoFar): Promise<void> {
    const attempt = attempting(failures, { kind: 'erased', userId });
    const sessions: SessionKey[] = [];
    await attempt('log', async () => sessions.push(...(await log.everyOfPerson(userId))));
    const channelIds = sessions.map(({ channelId }) => channelId);
    await attempt('answers', () => answers.erase(userId, at, channelIds));
    for (const layer of layers)
      await attempt(layer.name, () => layer.erase({ userId, sessions, isWhole: true }));
    // What no layer knows of, such as damaged copies and what was put there by hand.
    for (const channelId of channelIds)
      await attempt('log', () => store.removeAll(`sessions/${channelId}/${userId}`));
    if (failures.size === 0) await attempt('settings', () => store.removeAll(`users/${userId}`));
    await attempt('settings', () => ports.noteErased(userId, at));
  }

  /**
   * Has layers hide a change, then delete it, the log last, since it has the words to find the rest by. Where a layer
   * fails, nothing is deleted before the last try. Never rejects.
   */
  async function follow(
    { change: { kind }, isLastTry }: Entry,
    change: LayerChange,
    allFailures: FailuresSoFar,
    to: readonly MemoryLayer[],
  ): Promise<void> {
    const failures: FailuresSoFar = new Map();
    const attempt = attempting(failures, { kind, userId: personOf(change) });
    for (const layer of to) await attempt(layer.name, () => layer.follow(change, 'hide'));
    if (change.kind === 'withdrawn')
      await attempt('answers', () => deleteAnswers(answers, change.cause, change.messages));
    if (failures.size === 0 || isLastTry)
      for (const layer of to.toReversed())
        if (layer.name !== 'log' || failures.size === 0 || isLastTry)
          await attempt(layer.name, () => layer.follow(change, 'delete'));
    for (const failure of failures) allFailures.set(...failure);
  }

  /** For steps of which one that fails holds up no other. Each resolves with whether it was done. */
  function attempting(failures: FailuresSoFar, about: object) {
    return async (layer: string, work: () => Promise<unknown>): Promise<boolean> => {
      try {
        await work();
        return true;
      } catch (error) {
        failures.set(layer, error);
        logger.error('a change could not be applied to a layer of memory', { ...about, layer, error });
        return false;
      }
    };
  }

  /** The conversations that it may concern. `isHeld`: a layer has something of them that no log may have. */
  async function conversationsOf(
    change: MessageChange,
  ): Promise<readonly { readonly session: SessionKey; readonly isHeld: boolean }[]> {
    const held = await Promise.all(layers.map(async (layer) => (await layer.holdersOf?.(change)) ?? []));
    const found = [
      ...(await log.sessionsOf(change)).map((session) => ({ session, isHeld: false })),
      ...held.flat().map((session) => ({ session, isHeld: true })),
    ];
    return [...new Map(found.map((each) => [sessionName(each.session), each])).values()];
  }

  /** Whom withdrawn messages concern: where the log has none of them, the layers that hold something of others. */
  function holdersOf({ length }: { readonly length: number }): readonly MemoryLayer[] {
    return length > 0 ? layers : layers.filter((layer) => layer.holdersOf !== undefined);
  }

  /** Changes of one channel, and of one person, happen one after the other. */
  function inOrder<T>({ change }: Entry, job: () => Promise<T>): Promise<T> {
    if (change.kind === 'edited' || change.kind === 'deleted') return order.run(change.channelId, job);
    // An erasing ends what is in the person's queue, and enters it by itself.
    return change.kind === 'erased' ? job() : writes.run(unconditional(change.userId), job);
  }

  /** Unless something newer makes it pointless by then. */
  function retryLater(entry: Entry): void {
    const { change, since, stored } = entry;
    const again = async (): Promise<void> => {
      const isClosed = stored !== undefined && !open.has(entry);
      const isOvertaken = change.kind === 'edited' && recent.latest(change.messageId, since) !== undefined;
      if (!isClosed && !isOvertaken) await apply(entry);
    };
    timer(() => {
      inOrder(entry, again).catch((error: unknown) => {
        logger.error('a change could not be tried again yet', { kind: change.kind, error });
        retryLater(entry);
      });
    }, againMs);
  }

  /** Carries out what processes that are gone have left. Never rejects. */
  function finish(): Promise<void> {
    finishing = Promise.resolve(finishing).then(adoptAll).then(applyLeft).then(removeDone);
    return finishing;
  }

  function watch(): void {
    cancelWatch = timer(() => void finish().then(() => isStopped || watch()), againMs);
  }

  /** Erasings first: what they make pointless is not done. */
  async function applyLeft(left: readonly Entry[]): Promise<void> {
    const erasings = left.filter(({ change }) => change.kind === 'erased');
    const others = notOvertaken(left).filter(({ change }) => change.kind !== 'erased');
    for (const entry of [...erasings, ...others])
      try {
        if (open.has(entry)) await inOrder(entry, () => applyLeftEntry(entry));
      } catch (error) {
        logger.error('a change that was left stays', { kind: entry.change.kind, error });
      }
  }

  /** What is known of its messages by now came after it, and stands. */
  async function applyLeftEntry(entry: Entry): Promise<void> {
    const { change } = entry;
    if (change.kind === 'edited' || change.kind === 'deleted') {
      const messageIds = messageIdsOf(change).filter((id) => recent.latest(id) === undefined);
      if (change.kind === 'edited' && messageIds.length === 0) return close(entry);
      if (messageIds.length > 0) recent.note(change.kind === 'edited' ? change : { ...change, messageIds });
    }
    entry.since = recent.position;
    await apply(entry);
  }

  async function record(change: MessageChange): Promise<void> {
    recent.note(change);
    const since = recent.position;
    const kept = asKept(change);
    // What the channel's last process left comes before it.
    await finishing;
    await order.run(change.channelId, async () => {
      await apply({ change: await kept, since, isLastTry: false });
    });
  }

  /**
   * A change as it goes to the disk: secrets masked [K14], with who can read the channel now [V1]. An edit made in a
   * pause takes the message out [K9], unless the log has these words already.
   */
  async function asKept(change: MessageChange): Promise<MessageChange> {
    if (change.kind === 'deleted') return change;
    const { channelId, messageId } = change;
    const reach = reachIn(channelId, await ports.placeOf(channelId));
    const text = maskSecrets(change.text);
    // What cannot be looked at may be theirs.
    return (await mayKeep({ ...change, text }).catch(() => false))
      ? { ...change, text, reach }
      : { kind: 'deleted', channelId, messageIds: [messageId] };
  }

  /** Where Discord does not tell whose it is, those count who have the message. */
  async function mayKeep(change: Extract<MessageChange, { kind: 'edited' }>): Promise<boolean> {
    const { channelId, messageId, authorId: userId, text, editedAt } = change;
    const own = userId === undefined ? undefined : [{ session: { channelId, userId }, isHeld: true }];
    for (const { session, isHeld } of own ?? (await conversationsOf(change))) {
      if (await ports.mayStore(session, editedAt)) continue;
      const known = await log.message(session, messageId);
      if (known !== text && (isHeld || known !== undefined)) return false;
    }
    return true;
  }

  /** Rejects with `StoreError` where it could not be noted [K11]; nothing has changed then. */
  function erase(userId: string, at: string): Promise<Failures> {
    const entry = entryOf({ kind: 'erased', userId, at });
    const work = enter(entry).then(() => apply(entry));
    const over = Promise.allSettled([erasing.get(userId), work]).finally(() => {
      if (erasing.get(userId) === over) erasing.delete(userId);
    });
    erasing.set(userId, over);
    return work.then(({ failures }) => failures);
  }

  /** Another process erases a person. The notice may be lost, so nothing relies on it. */
  function erasedElsewhere({ userId, isDone }: Extract<Notice, { kind: 'erased' }>): void {
    if (!isDone) ports.endWork(userId, 'elsewhere');
    recent.dropTextsOf(userId);
    for (const layer of layers) layer.evict?.(userId);
  }

  /**
   * As one job of the person's queue. What is on its way into the log was said before a purge too, and goes when its
   * turn is over. Rejects with `StoreError` where it could not be noted.
   */
  function enterAndApply(change: Purged | Expired): Promise<Outcome> {
    return writes.run(unconditional(change.userId), async () => {
      const [entry, again] = [entryOf(change), entryOf(change)];
      await enter(entry);
      const turnsOver = change.kind === 'purged' ? ports.turnsOver?.(change.userId) : undefined;
      if (turnsOver !== undefined) {
        await enter(again);
        void turnsOver.then(() => inOrder(again, () => apply(again))).catch(() => retryLater(again));
      }
      return apply(entry);
    });
  }

  return {
    record,
    /** Resolves when the edits and deletions known in a channel by now were carried out, or tried. */
    async settled(channelId: string): Promise<void> {
      await finishing;
      await order.run(channelId, () => Promise.resolve());
    },
    erase,
    /** Resolves when a person is not being erased any more; what they say meanwhile waits for it. */
    erased: async (userId: string): Promise<void> => void (await erasing.get(userId)),
    erasedElsewhere,
    /** Deletes what says some words from all that is held about a person, messages with their answers [K11]. */
    purge: (change: Omit<Purged, 'kind'>): Promise<Outcome> => enterAndApply({ kind: 'purged', ...change }),
    /** Deletes messages that are too old [K15]. Resolves with whether every layer could follow. */
    expire: async (change: Omit<Expired, 'kind'>): Promise<boolean> =>
      (await enterAndApply({ kind: 'expired', ...change })).failures.size === 0,
    finish,
    /** Finishes every minute what processes have left that are gone: nobody tells when one ends [X2]. */
    watch,
    /** Ends that. */
    stop(): void {
      isStopped = true;
      cancelWatch?.();
    },
  };
}

function entryOf<T extends Change>(change: T): Entry<T> {
  return { change, since: 0, isLastTry: false };
}

function deletionsOf({ userId, messages = [] }: WithMessages): readonly Deletion[] {
  return messages.map(({ channelId, messageIds }) => ({
    session: { channelId, userId },
    cause: { kind: 'deleted', channelId, messageIds },
  }));
}

function messageIdsOf(change: MessageChange): readonly string[] {
  return change.kind === 'edited' ? [change.messageId] : change.messageIds;
}

function isSupersededBy(earlier: Change, later: Change): boolean {
  if (later.kind === 'erased')
    return earlier.kind === 'edited'
      ? earlier.authorId === later.userId
      : earlier.kind !== 'deleted' && earlier.userId === later.userId;
  return (
    earlier.kind === 'edited' &&
    (later.kind === 'edited' || later.kind === 'deleted') &&
    messageIdsOf(later).includes(earlier.messageId)
  );
}

/** Without edits that a later change of the same message replaces: carried out, they would remove the present text. */
function notOvertaken(left: readonly Entry[]): readonly Entry[] {
  const last = new Map<string, Entry>();
  for (const each of left)
    if (each.change.kind === 'edited' || each.change.kind === 'deleted')
      for (const id of messageIdsOf(each.change)) last.set(id, each);
  return left.filter((each) => each.change.kind !== 'edited' || last.get(each.change.messageId) === each);
}

/** What was said since a command stays, with the answers to it, though a later start finishes the command. */
function isBefore(commandId: string): (message: LoggedMessage) => boolean {
  return (message) => {
    const request = message.role === 'assistant' ? message.replyTo.at(-1) : undefined;
    return !isYounger(request ?? message.id, commandId);
  };
}

/** Of an edited message's answers those go that say what it says no more. */
async function deleteAnswers(
  answers: Pick<AnswerKeeper, 'deleteUnsent'>,
  change: MessageChange,
  messages: readonly WithdrawnMessage[],
): Promise<void> {
  const ids = new Set(messageIdsOf(change));
  const before = messages.find((message) => ids.has(message.before.id))?.before.text ?? '';
  const gone = change.kind === 'edited' ? withdrawnTerms(before, change.text) : undefined;
  await answers.deleteUnsent(
    change.channelId,
    ({ messageIds, text, footer }) =>
      messageIds.some((id) => ids.has(id)) &&
      (gone === undefined || saysAny([text, ...(footer?.lines ?? [])].join('\n'), gone)),
  );
}
