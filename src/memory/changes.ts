import type { MessageChange } from '../core/changes.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { SessionKey } from '../core/place.ts';
import type { Notice } from '../core/processes.ts';
import { maskSecrets } from '../core/secrets.ts';
import { reachIn } from '../core/visibility.ts';
import {
  personOf,
  type Erased,
  type Forgotten,
  type LayerChange,
  type LayerName,
  type MemoryLayer,
  type Purged,
} from './layer.ts';
import {
  comingBack,
  type Change,
  conversationsOf,
  eachConversation,
  eraseEverywhere,
  notOvertaken,
  saidBefore,
  stillForgotten,
  withdrawAnswers,
  type ChangeLedgerPorts,
  type Expired,
  type Failures,
  type WithMessages,
} from './change-records.ts';
import { idsOf } from './log/records.ts';
import { createOpenChanges, type Unfinished } from './open-changes.ts';

/** How long after the disk came between it a change is tried again; milliseconds. */
const againMs = 60_000;

/** One of the times that an edit or deletion is carried out. */
interface Attempt {
  /** What is noted of its message after this position comes after it. */
  readonly since: number;
  /** Its place in the ledger, if it is there. */
  readonly sequence?: number | undefined;
  /** An earlier process left it: what a layer cannot follow holds up the others no more. */
  readonly isLastTry: boolean;
}

export type ChangeLedger = ReturnType<typeof createChangeLedger>;

/**
 * The only way for an edit, a deletion or a forgetting to reach everything that holds words [F5]: first memory,
 * then the ledger on disk, then every layer in one job of the person's write queue. What a kill or the disk
 * interrupts stays in the ledger for the next start; all but forgetting and erasing a person is also tried every
 * minute. Changes of one channel run in order. Each process has its own ledger, and the first to notice finishes
 * that of a dead one [X2].
 */
export function createChangeLedger(ports: ChangeLedgerPorts) {
  const { recent, writes, log, layers, answers, processes, timer, logger } = ports;
  const { append, close, isOpen, forgottenBy, supersedesAny, unfinished } = createOpenChanges(ports);
  let finishing: Promise<void> | undefined;
  const order = createKeyedQueue();
  /** Whom withdrawn messages concern: where the log has none of them, those that hold something of others. */
  const holdersOf = ({ length }: { readonly length: number }): readonly MemoryLayer[] =>
    length > 0 ? layers : layers.filter((layer) => layer.holdersOf !== undefined);
  /** People who are being erased, until that is over. */
  const erasing = new Map<string, Promise<unknown>>();

  /** Carries out an edit or deletion. Never rejects: what fails is in the log and in the ledger. */
  async function record(change: MessageChange): Promise<void> {
    recent.note(change);
    const since = recent.position;
    const kept = asKept(change);
    // What the channel's last process left comes before it.
    await finishing;
    await order.run(change.channelId, () =>
      writes.begin(async () => carryOut(await kept, { since, isLastTry: false })),
    );
  }

  /**
   * A change as it goes to the disk; a turn that waits has the words as they are. With secrets masked [K14], as where they are compared with the log; what
   * the author says in a pause is not written down [K9], so that an edit then takes the message out, unless it was edited before and is only told of again; and
   * with who can read the channel at this moment [V1].
   */
  async function asKept(change: MessageChange): Promise<MessageChange> {
    if (change.kind === 'deleted') return change;
    const { channelId, messageId, authorId: userId } = change;
    const reach = reachIn(channelId, await ports.placeOf(channelId));
    const text = maskSecrets(change.text);
    const mayKeep =
      userId === undefined ||
      (await ports.mayStore({ channelId, userId })) ||
      (await readsLike({ channelId, userId }, messageId, text));
    return mayKeep ? { ...change, text, reach } : { kind: 'deleted', channelId, messageIds: [messageId] };
  }

  /** Whether a message stands in the log in these words. Never rejects: what cannot be looked up counts as new. */
  const readsLike = (session: SessionKey, messageId: string, text: string): Promise<boolean> =>
    log.message(session, messageId).then(
      (logged) => logged === text,
      () => false,
    );

  /** Tries a change again that the disk came between, unless its message was edited or deleted by then. */
  function tryAgain(change: MessageChange, attempt: Attempt): void {
    const again = async (): Promise<void> => {
      const isOvertaken =
        change.kind === 'edited' && recent.latest(change.messageId, attempt.since) !== undefined;
      if (!isOvertaken) await writes.begin(() => carryOut(change, attempt));
    };
    timer(() => void order.run(change.channelId, again), againMs);
  }

  /** The same of what is to leave one person's memory, unless all of that was erased by then. */
  function tryAgainFor(userId: string, sequence: number, work: () => Promise<unknown>): void {
    const again = async (): Promise<void> => {
      if (isOpen(sequence)) await work();
    };
    timer(() => {
      writes
        .begin(() => writes.run(userId, again))
        .catch((error: unknown) => {
          logger.error('a change that was tried again could not be carried out', { userId, error });
          if (isOpen(sequence)) tryAgainFor(userId, sequence, work);
        });
    }, againMs);
  }

  /**
   * Has something forgotten, as part of the job of the person's queue that decided on it. The layer that decided follows first; where that or the ledger
   * rejects, this rejects with `StoreError` and nothing has changed. `withdrawn` counts the messages that went with it, answers among them.
   */
  async function forget(
    layer: Pick<MemoryLayer, 'name' | 'follow'>,
    change: Forgotten,
  ): Promise<{ readonly failures: Failures; readonly withdrawn: number }> {
    const sequence = await append(change);
    try {
      await layer.follow(change, 'withdraw');
    } catch (error) {
      await close(sequence, change);
      throw error;
    }
    const others = layers.filter(({ name }) => name !== layer.name);
    const { failures, withdrawn } = await deliverForgotten(change, others);
    if (failures.size === 0) await close(sequence, change);
    return { failures, withdrawn };
  }

  /** Has every layer withdraw what was forgotten, and the messages that it came from; it is erased when it can be undone no more. Never rejects. */
  async function deliverForgotten(
    change: Forgotten,
    to: readonly MemoryLayer[] = layers,
  ): Promise<{ readonly failures: Failures; readonly withdrawn: number }> {
    let count = 0;
    const failures = new Map(await deliver(change, { to, isErasing: false }));
    await eachConversation(change, async (session, cause) => {
      count += await takeOut(session, cause, failures, false);
      ports.changed(session);
    }).catch((error: unknown) => {
      failures.set('log', error);
      logger.error('what was forgotten could not be taken out of a conversation', {
        userId: change.userId,
        error,
      });
    });
    return { failures, withdrawn: count };
  }

  /**
   * Removes messages from memory as if deleted, though they stay on Discord. Resolves with their number, answers
   * included. Rejects with `StoreError`.
   */
  async function takeOut(
    session: SessionKey,
    cause: Extract<MessageChange, { kind: 'deleted' }>,
    failures: Map<LayerName | 'answers', unknown>,
    isErasing: boolean,
  ): Promise<number> {
    const messages = await log.affected(session, cause);
    if (messages.length === 0) return 0;
    const withdrawn = { kind: 'withdrawn', session, messages, cause, isForgetting: true } as const;
    for (const [name, error] of await deliver(withdrawn, { isErasing })) failures.set(name, error);
    const ids = messages.flatMap(({ before }) => idsOf(before));
    await answers.hide(session.channelId, [...new Set([...cause.messageIds, ...ids])]);
    const answered = new Set(
      messages.flatMap(({ before }) => (before.role === 'user' ? [] : before.replyTo)),
    );
    const waiting = cause.messageIds.filter((id) => !answered.has(id));
    if (waiting.length > 0) await answers.markHandled(session.channelId, waiting);
    return messages.length;
  }

  /** What was forgotten leaves the disk, since it can be undone no more [S7]. Rejects with `StoreError` where it cannot yet. */
  function finalise(change: WithMessages): Promise<void> {
    if (change.messages === undefined) return Promise.resolve();
    // This must not run as part of the caller's work, which may be refused by now.
    return writes.begin(() =>
      writes.run(change.userId, () =>
        eachConversation(change, async (session, cause) => {
          const messages = await stillForgotten(log, session, cause);
          const withdrawn = { kind: 'withdrawn', session, messages, cause, isForgetting: true } as const;
          for (const layer of holdersOf(messages).toReversed()) await layer.follow(withdrawn, 'erase');
        }),
      ),
    );
  }

  /**
   * Messages that were forgotten, and are not final, are said again in every layer [K5], but for what went with `standing` too; and where a layer could not
   * follow yet when these or the items were forgotten, it need not any more. As part of a job of the person's queue. Rejects with `StoreError`.
   */
  async function restore(
    change: WithMessages,
    standing: readonly WithMessages[] = [],
    itemIds: readonly string[] = [],
  ): Promise<void> {
    for (const { session, messageIds } of await comingBack(log, change, standing)) {
      for (const layer of layers) await layer.follow({ kind: 'restored', session, messageIds }, 'withdraw');
      await answers.unhide(session.channelId, messageIds);
      ports.changed(session, true);
    }
    const taken = new Set([...itemIds, ...idsIn(change)]);
    for (const { sequence, change: forgotten } of forgottenBy(change.userId))
      if ([...forgotten.itemIds, ...idsIn(forgotten)].some((id) => taken.has(id)))
        await close(sequence, forgotten);
  }

  /**
   * Erases all that is held about a person [K11]: on disk first; then what runs and waits for them ends, nothing that began before writes any more, and
   * every layer, the journals and what lies beside them let go of it. Rejects with `StoreError` where it could not be noted; nothing has changed then.
   */
  function erase(userId: string, at: string): Promise<Failures> {
    const work = begun().then(({ change, sequence }) => carryOutErasing(change, sequence));
    const over = ended();
    erasing.set(userId, over);
    return work;

    async function begun() {
      const change = { kind: 'erased', userId, at } as const;
      return { change, sequence: await append(change) };
    }

    async function ended(): Promise<void> {
      await Promise.allSettled([erasing.get(userId), work]);
      if (erasing.get(userId) === over) erasing.delete(userId);
    }
  }

  /** Never rejects. */
  async function carryOutErasing(change: Erased, sequence: number): Promise<Failures> {
    const { userId, at } = change;
    const failures = new Map<LayerName | 'answers', unknown>();
    processes.notices.tell({ kind: 'erased', userId, at, isDone: false });
    writes.refuseEarlier(userId);
    ports.endWork(userId, 'here');
    recent.dropTextsOf(userId);
    const attempt = attempting(failures, 'what is held about a person could not be erased', { userId });
    await attempt('log', () =>
      writes.begin(() => writes.run(userId, () => eraseEverywhere(ports, change, attempt))),
    );
    // Something may have been read by others since the first notice.
    processes.notices.tell({ kind: 'erased', userId, at, isDone: true });
    if (failures.size === 0) await close(sequence, change);
    logger.info('all that was held about a person was erased', { userId, isDone: failures.size === 0 });
    return failures;
  }

  /**
   * Another process erases a person: their running and waiting work here ends, and their data in memory goes. The
   * notice may be lost, so nothing relies on it.
   */
  function erasedElsewhere({ userId, at, isDone }: Extract<Notice, { kind: 'erased' }>): void {
    if (!isDone) {
      writes.refuseEarlier(userId);
      ports.endWork(userId, 'elsewhere');
    }
    recent.dropTextsOf(userId);
    answers.noteErased(userId, at);
    for (const layer of layers) layer.letGo?.(userId);
  }

  /**
   * Erases one matter from all that is held about a person [K11], for good: the messages that say the words with the answers to them, and then, in every
   * layer, what else says them. Summaries and notes are rewritten without it. Rejects with `StoreError` where it could not be noted.
   */
  function purge(
    change: Omit<Purged, 'kind'>,
  ): Promise<{ readonly failures: Failures; readonly messages: number }> {
    return writes.run(change.userId, async () => {
      const purged = { kind: 'purged', ...change } as const;
      return carryOutPurge(purged, await append(purged));
    });
  }

  /** As part of a job of the person's queue. Never rejects. */
  async function carryOutPurge(change: Purged, sequence: number) {
    const { userId, words, commandId } = change;
    const failures = new Map<LayerName | 'answers', unknown>();
    let count = 0;
    try {
      // A kill may have come when they were taken out, and before they were erased.
      const messages = await log.mentions(userId, words, saidBefore(commandId), true);
      await eachConversation({ userId, messages }, async (session, cause) => {
        count += await takeOut(session, cause, failures, true);
      });
      for (const [name, error] of await deliver(change)) failures.set(name, error);
      for (const session of await log.sessionsOfPerson(userId)) ports.changed(session);
    } catch (error) {
      failures.set('log', error);
      logger.error('a matter could not be erased', { userId, error });
    }
    if (failures.size === 0) await close(sequence, change);
    else tryAgainFor(userId, sequence, () => carryOutPurge(change, sequence));
    return { failures, messages: count };
  }

  /**
   * Messages that are too old [K15] go from every layer for good; items that came of them are the durable layer's own matter. Resolves with whether every
   * layer could follow; rejects with `StoreError` where it could not be noted.
   */
  function expire(change: Omit<Expired, 'kind'>): Promise<boolean> {
    return writes.run(change.userId, async () => {
      const expired = { kind: 'expired', ...change } as const;
      return carryOutExpiry(expired, await append(expired), false);
    });
  }

  /** As part of a job of the person's queue. Rejects with `StoreError`. */
  async function carryOutExpiry(change: Expired, sequence: number, isLastTry: boolean): Promise<boolean> {
    const { userId, channelId, messageIds } = change;
    const session = { channelId, userId };
    const cause = { kind: 'deleted', channelId, messageIds } as const;
    const messages = await log.affected(session, cause);
    const withdrawn = { kind: 'withdrawn', session, messages, cause, isForgetting: true } as const;
    const failures = await deliver(withdrawn, { isLastTry });
    const isDone = failures.size === 0 || (isLastTry && !failures.has('log'));
    if (isDone) await close(sequence, change);
    else tryAgainFor(userId, sequence, () => carryOutExpiry(change, sequence, isLastTry));
    ports.changed(session, true);
    return failures.size === 0;
  }

  /** Resolves when a person is not being erased any more; what they say meanwhile waits for it. */
  async function erased(userId: string): Promise<void> {
    await erasing.get(userId);
  }

  /** Carries out what the process before this one, or others that are gone, did not come to. Never rejects. */
  function finish(): Promise<void> {
    finishing = Promise.resolve(finishing).then(unfinished).then(finishAll);
    return finishing;
  }

  /** Erasings first: what they make pointless is not done. */
  async function finishAll(left: readonly Unfinished[]): Promise<void> {
    for (const { sequence, change } of left)
      if (change.kind === 'erased') await carryOutErasing(change, sequence);
    const noted = new Map<string, unknown>();
    for (const { sequence, change } of notOvertaken(left)) {
      if (change.kind === 'erased' || !isOpen(sequence)) continue;
      try {
        await writes.begin(() => finishOne({ sequence, change }, noted));
      } catch (error) {
        logger.error('a change that was left could not be carried out, and stays', {
          kind: change.kind,
          error,
        });
      }
    }
  }

  /** Rejects with `StoreError` where nobody can get to it now. */
  async function finishOne(
    { sequence, change }: { readonly sequence: number; readonly change: Exclude<Change, Erased> },
    noted: Map<string, unknown>,
  ): Promise<void> {
    switch (change.kind) {
      case 'purged':
        return void (await writes.run(change.userId, () => carryOutPurge(change, sequence)));
      case 'expired':
        return void (await writes.run(change.userId, () => carryOutExpiry(change, sequence, true)));
      case 'forgotten':
        return writes.run(change.userId, async () => {
          if ((await deliverForgotten(change)).failures.size === 0) await close(sequence, change);
        });
      case 'edited':
      case 'deleted':
        return order.run(change.channelId, () => takeUp(change, sequence, noted));
    }
  }

  /** `noted` is by message id what this start has taken up already; what came after it was told by Discord since, and stands. */
  async function takeUp(change: MessageChange, sequence: number, noted: Map<string, unknown>): Promise<void> {
    if (change.kind === 'deleted') {
      const messageIds = change.messageIds.filter((id) => recent.latest(id) === undefined);
      if (messageIds.length > 0) recent.note({ ...change, messageIds });
    } else {
      const { messageId } = change;
      const latest = recent.latest(messageId);
      if (latest !== undefined && latest !== noted.get(messageId)) return close(sequence, change);
      recent.note(change);
      noted.set(messageId, recent.latest(messageId));
    }
    await carryOut(change, { since: recent.position, sequence, isLastTry: true });
  }

  async function carryOut(change: MessageChange, attempt: Attempt): Promise<void> {
    const { since, isLastTry } = attempt;
    let { sequence } = attempt;
    let isDone = true;
    let isLogged = false;

    async function carryOutIn(session: SessionKey, isHeld: boolean): Promise<void> {
      const messages = await log.affected(session, change);
      if (messages.length === 0 && !isHeld) return;
      isLogged = true;
      // First, since after a kill nobody would erase what the log hides.
      sequence ??= await append(change);
      const withdrawn = { kind: 'withdrawn', session, messages, cause: change } as const;
      const failures = await deliver(withdrawn, { to: holdersOf(messages), isLastTry });
      isDone &&= failures.size === 0 || (isLastTry && !failures.has('log'));
      ports.changed(session);
    }

    /** What cannot even be looked at is left to the next attempt, and holds up nothing else. */
    async function attemptTo(work: () => Promise<void>): Promise<void> {
      try {
        await work();
      } catch (error) {
        isDone = false;
        logger.error('an edit or deletion could not be applied to memory', {
          channelId: change.channelId,
          error,
        });
        sequence ??= await append(change).catch(() => undefined);
      }
    }

    await attemptTo(async () => {
      for (const { session, isHeld } of await conversationsOf(change, ports))
        await attemptTo(() => writes.run(session.userId, () => carryOutIn(session, isHeld)));
    });
    if (!isLogged) await attemptTo(() => withdrawAnswers(answers, change, []));
    if (!isDone) tryAgain(change, { since, sequence, isLastTry });
    else if (sequence !== undefined || supersedesAny(change)) await close(sequence ?? Infinity, change);
  }

  /**
   * Has every layer follow, as part of a job of the person's queue: first it is used nowhere, then it is on no disk, in the log last. Where a layer
   * cannot, the words stay there, so that it can look them up; but they outlive no second try, even if its file can never be written again. Never rejects.
   */
  async function deliver(
    change: LayerChange,
    {
      to = layers,
      isLastTry = false,
      isErasing = true,
    }: {
      readonly to?: readonly MemoryLayer[];
      readonly isLastTry?: boolean;
      /** It is final at once. */
      readonly isErasing?: boolean;
    } = {},
  ): Promise<Failures> {
    const failures = new Map<LayerName | 'answers', unknown>();
    const about = { kind: change.kind, userId: personOf(change) };
    const attempt = attempting(failures, 'a change could not be applied to a layer of memory', about);
    for (const layer of to) await attempt(layer.name, () => layer.follow(change, 'withdraw'));
    if (change.kind === 'withdrawn')
      await attempt('answers', () => withdrawAnswers(answers, change.cause, change.messages));
    if (!isErasing || (failures.size > 0 && !isLastTry)) return failures;
    for (const layer of to.toReversed())
      if (layer.name !== 'log' || failures.size === 0 || isLastTry)
        await attempt(layer.name, () => layer.follow(change, 'erase'));
    return failures;
  }

  /** For steps of which one that fails holds up no other: it is in the log and among the failures. Each resolves with whether it was done. */
  function attempting(failures: Map<LayerName | 'answers', unknown>, problem: string, about: object) {
    return async (layer: LayerName | 'answers', work: () => Promise<unknown>): Promise<boolean> => {
      try {
        await work();
        return true;
      } catch (error) {
        failures.set(layer, error);
        logger.error(problem, { ...about, layer, error });
        return false;
      }
    };
  }

  /** Resolves when the edits and deletions that were told of in a channel up to now are carried out, or were tried. */
  async function settled(channelId: string): Promise<void> {
    await finishing;
    await order.run(channelId, () => Promise.resolve());
  }

  return {
    record,
    settled,
    forget,
    finalise,
    restore,
    erase,
    erased,
    erasedElsewhere,
    purge,
    expire,
    finish,
  };
}

function idsIn({ messages = [] }: WithMessages): readonly string[] {
  return messages.flatMap(({ messageIds }) => messageIds);
}
