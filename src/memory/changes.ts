import { z } from 'zod';

import type { MessageChange, RecentChanges } from '../core/changes.ts';
import { createKeyedQueue, type KeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import type { SessionKey } from '../core/place.ts';
import type { Store } from '../core/store.ts';
import type { Forgotten, LayerChange, LayerName, MemoryLayer, WithdrawnMessage } from './layer.ts';
import type { SessionLog } from './log/session-log.ts';
import { saysAny, withdrawnTerms } from './log/withdrawal.ts';

const ledgerKey = 'changes.jsonl';

type Change = MessageChange | Forgotten;

const changeSchema: z.ZodType<Change> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('edited'),
    channelId: z.string(),
    messageId: z.string(),
    authorId: z.string().exactOptional(),
    text: z.string(),
  }),
  z.object({
    kind: z.literal('deleted'),
    channelId: z.string(),
    messageIds: z.array(z.string()).readonly(),
  }),
  z.object({
    kind: z.literal('forgotten'),
    userId: z.string(),
    itemIds: z.array(z.string()).readonly(),
    words: z.string(),
    commandId: z.string(),
  }),
]);

/** Keeps answers that are ready until they are sent. */
export interface AnswerKeeper {
  /** Messages of a channel were edited or deleted: answers that `isWithdrawn` picks are kept no more. */
  withdraw(
    channelId: string,
    isWithdrawn: (answer: { readonly messageIds: readonly string[]; readonly text: string }) => boolean,
  ): Promise<void>;
}

export interface ChangeLedgerPorts {
  readonly store: Pick<Store, 'append' | 'scan' | 'rewrite'>;
  readonly recent: RecentChanges;
  /** The users' write queue [S3]. */
  readonly writes: KeyedQueue;
  readonly log: Pick<SessionLog, 'sessionsOf' | 'affected'>;
  /** All of them, the log first, on or off. */
  readonly layers: readonly MemoryLayer[];
  readonly answers: AnswerKeeper;
  /** A session has changed: what was made of it is to be made anew. */
  readonly changed: (session: SessionKey) => void;
  readonly logger: Logger;
}

/** What became of a change: the layers that could not follow it yet, with the reason; the ledger keeps it open for them. */
export type Failures = ReadonlyMap<LayerName | 'answers', unknown>;

export type ChangeLedger = ReturnType<typeof createChangeLedger>;

/**
 * The one way in which an edit, a deletion or a forgetting reaches whoever holds words [F5]: those in memory at once; then the change is on
 * disk; then every layer follows it, as one job of the person's write queue; then it is done, and its record is gone. What a kill or the disk
 * came between stays in the ledger and is finished at the next start. Changes of one channel are carried out one after the other.
 */
export function createChangeLedger(ports: ChangeLedgerPorts) {
  const { store, recent, writes, log, layers, answers, logger } = ports;
  const order = createKeyedQueue();
  /** What the ledger has open, by its place there. */
  const open = new Map<number, Change>();

  /** Carries out an edit or deletion. Never rejects: what fails is in the log and in the ledger. */
  async function record(change: MessageChange): Promise<void> {
    recent.note(change);
    await order.run(change.channelId, () => carryOut(change, undefined));
  }

  /**
   * Decides on something to forget and has it forgotten, both in one job of the person's queue: nothing comes in between. The layer that
   * decides follows first; where it cannot, or the decision or the ledger rejects, this rejects with `StoreError` and nothing has changed.
   */
  function forget<T>(
    layer: Pick<MemoryLayer, 'name' | 'follow'>,
    userId: string,
    decide: () => Promise<{ readonly change: Forgotten; readonly result: T }>,
  ): Promise<{ readonly result: T; readonly failures: Failures }> {
    return writes.run(userId, async () => {
      const { change, result } = await decide();
      const sequence = await append(change);
      try {
        await layer.follow(change, 'withdraw');
      } catch (error) {
        await close(sequence, change);
        throw error;
      }
      const others = layers.filter(({ name }) => name !== layer.name);
      const failures = await deliver(change, { to: others });
      if (failures.size === 0) await close(sequence, change);
      return { result, failures };
    });
  }

  /** Carries out what the process before this one did not come to. Never rejects. */
  async function finish(): Promise<void> {
    const unfinished: { readonly sequence: number; readonly change: Change }[] = [];
    try {
      for await (const { sequence, record: change } of store.scan(ledgerKey, changeSchema))
        unfinished.push({ sequence, change });
    } catch (error) {
      logger.error('the ledger of changes could not be read', { error });
    }
    for (const { sequence, change } of unfinished) open.set(sequence, change);
    const noted = new Map<string, unknown>();
    const last = new Map<string, number>();
    for (const { sequence, change } of unfinished)
      if (change.kind !== 'forgotten') for (const id of messageIdsOf(change)) last.set(id, sequence);
    for (const { sequence, change } of unfinished) {
      // The later one takes out what the earlier one said, too; done before, the earlier one would take out what is said now.
      if (change.kind === 'edited' && last.get(change.messageId) !== sequence) continue;
      if (change.kind === 'forgotten') {
        await writes.run(change.userId, async () => {
          if ((await deliver(change)).size === 0) await close(sequence, change);
        });
      } else await order.run(change.channelId, () => takeUp(change, sequence, noted));
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
    await carryOut(change, sequence);
  }

  /** `opened` is the record in the ledger of a change that an earlier process left; then this is the last try. */
  async function carryOut(change: MessageChange, opened: number | undefined): Promise<void> {
    const isLastTry = opened !== undefined;
    let sequence = opened;
    let isDone = true;
    let isLogged = false;

    async function carryOutIn(session: SessionKey): Promise<void> {
      const messages = await log.affected(session, change);
      if (messages.length === 0) return;
      isLogged = true;
      sequence ??= await enter(change);
      const failures = await deliver({ kind: 'withdrawn', session, messages }, { cause: change, isLastTry });
      isDone &&= failures.size === 0 || isLastTry;
      ports.changed(session);
    }

    /** What cannot even be looked at is left to the next start, and holds up nothing else. */
    async function attempt(work: () => Promise<void>): Promise<void> {
      try {
        await work();
      } catch (error) {
        isDone = false;
        logger.error('an edit or deletion could not be applied to memory', {
          channelId: change.channelId,
          error,
        });
        sequence ??= await enter(change);
      }
    }

    await attempt(async () => {
      for (const session of await log.sessionsOf(change))
        await attempt(() => writes.run(session.userId, () => carryOutIn(session)));
    });
    if (!isLogged) await attempt(() => withdrawAnswers(change, []));
    if (isDone && (sequence !== undefined || supersedesAny(change)))
      await close(sequence ?? Infinity, change);
  }

  /** Whether the ledger has an earlier change open that must not be carried out any more. */
  function supersedesAny(change: Change): boolean {
    return [...open.values()].some((earlier) => isSupersededBy(earlier, change));
  }

  /**
   * Has every layer follow, as part of a job of the person's queue: first it is used nowhere, then it is on no disk. Where a layer cannot, the
   * words stay where it can look them up; but they outlive no second try, even if one file can never be written again. Never rejects.
   */
  async function deliver(
    change: LayerChange,
    {
      cause,
      to = layers,
      isLastTry = false,
    }: {
      readonly cause?: MessageChange;
      readonly to?: readonly MemoryLayer[];
      readonly isLastTry?: boolean;
    } = {},
  ): Promise<Failures> {
    const failures = new Map<LayerName | 'answers', unknown>();
    const attempt = async (name: LayerName | 'answers', work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (error) {
        failures.set(name, error);
        logger.error('a change could not be applied to a layer of memory', {
          kind: change.kind,
          layer: name,
          userId: change.kind === 'withdrawn' ? change.session.userId : change.userId,
          error,
        });
      }
    };
    for (const layer of to) await attempt(layer.name, () => layer.follow(change, 'withdraw'));
    if (change.kind === 'withdrawn' && cause !== undefined)
      await attempt('answers', () => withdrawAnswers(cause, change.messages));
    if (failures.size > 0 && !isLastTry) return failures;
    for (const layer of layers) await attempt(layer.name, () => layer.follow(change, 'erase'));
    return failures;
  }

  /** Of an edited message's answers those go that say what it says no more. */
  async function withdrawAnswers(
    change: MessageChange,
    messages: readonly WithdrawnMessage[],
  ): Promise<void> {
    const ids = new Set(messageIdsOf(change));
    const before = messages.find((message) => ids.has(message.before.id))?.before.text ?? '';
    const gone = change.kind === 'edited' ? withdrawnTerms(before, change.text) : undefined;
    await answers.withdraw(
      change.channelId,
      (answer) =>
        answer.messageIds.some((id) => ids.has(id)) && (gone === undefined || saysAny(answer.text, gone)),
    );
  }

  async function append(change: Change): Promise<number> {
    const sequence = await store.append(ledgerKey, change);
    open.set(sequence, change);
    return sequence;
  }

  /** The conversation goes on where the disk refuses; then a kill can come between. */
  async function enter(change: MessageChange): Promise<number | undefined> {
    try {
      return await append(change);
    } catch (error) {
      logger.error('could not be saved', { what: 'a change', error });
      return undefined;
    }
  }

  /** The change is done, and earlier ones of the same messages with it. Never rejects: done twice, nothing happens. */
  async function close(sequence: number, change: Change): Promise<void> {
    const isClosed = (each: number, earlier: Change): boolean =>
      each === sequence || (each < sequence && isSupersededBy(earlier, change));
    try {
      await store.rewrite(ledgerKey, changeSchema, (entry) =>
        isClosed(entry.sequence, entry.record) ? undefined : entry.record,
      );
      for (const [each, earlier] of open) if (isClosed(each, earlier)) open.delete(each);
    } catch (error) {
      logger.error('could not be saved', { what: 'that a change is done', error });
    }
  }

  return { record, forget, finish };
}

function messageIdsOf(change: MessageChange): readonly string[] {
  return change.kind === 'edited' ? [change.messageId] : change.messageIds;
}

function isSupersededBy(earlier: Change, later: Change): boolean {
  return (
    earlier.kind === 'edited' && later.kind !== 'forgotten' && messageIdsOf(later).includes(earlier.messageId)
  );
}
