import type { MessageChange, RecentChanges } from '../core/changes.ts';
import type { ChannelPort } from '../core/channels.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { sessionName, type SessionKey } from '../core/place.ts';
import type { Notice } from '../core/processes.ts';
import { maskSecrets } from '../core/secrets.ts';
import { isYounger } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import { unconditional, type Writes } from '../core/writes.ts';
import { createChangeRecords } from './change-records.ts';
import {
  attempting,
  createErasing,
  type ErasingPorts,
  type Failures,
  type FailuresSoFar,
} from './erasing.ts';
import type { Deletion, MemoryLayer, Purged, Withdrawn } from './layer.ts';
import { idsOf, type LoggedMessage } from './log/records.ts';
import type { SessionLog } from './log/session-log.ts';
import { asKept, deleteAnswers, messageIdsOf, type AnswerKeeper, type Concerned } from './message-changes.ts';
import { coverOf, emptyRecord, sessionsIn, withheldCauses, type WithheldRecord } from './withheld.ts';

/*
 * What becomes of a change [F5]: one record of it, on disk before anything else.
 *
 *   said ──► withheld ───────► every layer deletes it, the log last ──► done: the record goes
 *            │    ▲            at once; what was forgotten, ten minutes later
 *            │    └── a layer could not: the work queue, or the next start, tries again
 *            └── undone (what was forgotten only): the record goes, nothing was touched
 *
 * Readers leave out what a record covers for as long as it is there. Records lie in `changes/<userId>.json`; of an edit
 * or deletion whose people cannot be looked up yet, in `changes/<channelId>.json`.
 */

export interface ChangeLedgerPorts extends ErasingPorts {
  readonly store: Pick<Store, 'read' | 'update' | 'remove' | 'removeAll' | 'list'>;
  readonly recent: RecentChanges;
  /** The users' write queue [S3]. */
  readonly writes: Pick<Writes, 'run' | 'runInWorkspace'>;
  readonly log: Pick<
    SessionLog,
    'sessionsOf' | 'affected' | 'held' | 'message' | 'everyOfPerson' | 'sessionsOfPerson' | 'mentions'
  >;
  /** All of them, the log first, on or off. */
  readonly layers: readonly MemoryLayer[];
  readonly answers: AnswerKeeper;
  /** Whether what a person wrote in a conversation, by default now, may be written down [K9]. Must not reject. */
  readonly mayStore: (session: SessionKey, at?: string) => Promise<boolean>;
  readonly placeOf: ChannelPort['placeOf'];
  /** A session has changed: rebuild what was derived from it. */
  readonly changed: (session: SessionKey) => void;
  /** Resolves when a person's turns that run or wait are over; `undefined` without any. Must not reject. */
  readonly turnsOver?: ((userId: string) => Promise<unknown> | undefined) | undefined;
  /** Has `finishFor` called for a person, or a channel, from a time on. Rejects with `StoreError`. */
  readonly expireAt: (id: string, time?: Date) => Promise<void>;
  readonly clock: Clock;
}

/** What became of a change, and how many messages went with it, answers included. */
interface Outcome {
  readonly failures: Failures;
  readonly messages: number;
}

type Covering = Partial<Pick<WithheldRecord, 'messages' | 'sentences'>>;

export type ChangeLedger = ReturnType<typeof createChangeLedger>;

/** The one way in which a change reaches all that holds words [F5]. */
export function createChangeLedger(ports: ChangeLedgerPorts) {
  const { recent, writes, log, layers, answers, expireAt, clock, logger } = ports;
  const { recordsOf, enter, leave, dropStrays, ids, laterOf } = createChangeRecords(ports);
  const erasePerson = createErasing(ports);
  let finishing: Promise<void> | undefined;
  const order = createKeyedQueue();
  /** What the disk did not even take the record of. */
  const unnoted = new Set<WithheldRecord>();
  /** People who are being erased. */
  const erasing = new Map<string, Promise<unknown>>();

  function recordOf(
    userId: string,
    about: WithheldRecord['change'],
    covering: Covering = {},
  ): WithheldRecord {
    const at = clock().toISOString();
    return { ...emptyRecord(userId, at, about), ...covering };
  }

  /** Has every layer delete what a record covers. Part of a job of the person's queue, but for an erasing. */
  async function carryOut(entry: WithheldRecord, isLastTry = false): Promise<Outcome> {
    const { userId, change: about } = entry;
    const failures: FailuresSoFar = new Map();
    let messages = 0;
    const attempt = attempting(failures, { kind: about.kind, userId }, logger);
    await attempt('log', async () => {
      if (about.kind === 'erased') return erasePerson(userId, about.at, failures);
      for (const deletion of await deletionsFor(entry)) {
        await deleteEverywhere(deletion, failures, isLastTry);
        if (deletion.kind !== 'messages') continue;
        messages += deletion.messages.length;
        if (about.kind === 'forgotten' || about.kind === 'purged') await hideFromHistory(deletion);
      }
      // What was forgotten before a purge comes back no more [K11].
      const others = about.kind === 'purged' ? await recordsOf(userId) : [];
      for (const each of others)
        if (each.change.kind === 'forgotten' && each.at <= entry.at) await carryOut(each);
    });
    const isDone = failures.size === 0 || (isLastTry && !failures.has('log'));
    if (isDone) await attempt('log', () => leave(userId, entry));
    else await tryAgain(userId);
    for (const session of await sessionsOf(entry)) ports.changed(session);
    return { failures, messages };
  }

  /** Never rejects: where the queue cannot take it either, the next start does it. */
  async function tryAgain(id: string): Promise<void> {
    await expireAt(id, laterOf(clock().toISOString())).catch(() => undefined);
  }

  /** In order: what layers find by words goes after the messages that said them. */
  async function deletionsFor(entry: WithheldRecord): Promise<readonly Deletion[]> {
    const { userId, change: about } = entry;
    if (about.kind === 'purged') {
      const found = await log.mentions(userId, about.words, isBefore(about.commandId), true);
      const causes = found.map((each) => ({ kind: 'deleted' as const, ...each }));
      const words = { ...about, kind: 'words' as const, userId };
      return [...(await Promise.all(causes.map((cause) => deletionOf(userId, cause, true)))), words];
    }
    if (about.kind === 'forgotten') {
      const sessions = sessionsIn(entry);
      const causes = (
        await Promise.all(sessions.map((session) => withheldCauses(log, session, entry)))
      ).flat();
      const messages = await Promise.all(causes.map((cause) => deletionOf(userId, cause, true)));
      return [
        ...messages.map((each) => ({ ...each, isResolved: true as const })),
        { kind: 'record', userId, record: entry },
      ];
    }
    if (about.kind === 'erased') return [];
    const cause = about.kind === 'expired' ? { ...about, kind: 'deleted' as const } : about;
    return [await deletionOf(userId, cause, about.kind === 'expired')];
  }

  async function deletionOf(userId: string, cause: MessageChange, areItemsKept: boolean) {
    const session = { channelId: cause.channelId, userId };
    const messages = await log.affected(session, cause);
    return { kind: 'messages' as const, session, messages, cause, areItemsKept: areItemsKept || undefined };
  }

  /** The log last, since it has the words to find the rest by: it waits for the others, but on the last try. */
  async function deleteEverywhere(
    deletion: Deletion,
    allFailures: FailuresSoFar,
    isLastTry: boolean,
  ): Promise<void> {
    const failures: FailuresSoFar = new Map();
    const attempt = attempting(failures, { kind: deletion.kind }, logger);
    if (deletion.kind === 'messages')
      await attempt('answers', () => deleteAnswers(answers, deletion.cause, deletion.messages));
    for (const layer of layers.toReversed())
      if (layer.name !== 'log' || failures.size === 0 || isLastTry)
        await attempt(layer.name, () => layer.delete(deletion));
    for (const failure of failures) allFailures.set(...failure);
  }

  async function sessionsOf(entry: WithheldRecord): Promise<readonly SessionKey[]> {
    if (entry.change.kind === 'purged') return log.sessionsOfPerson(entry.userId).catch(() => []);
    return entry.change.kind === 'erased' ? [] : sessionsIn(entry);
  }

  /** They stay on Discord, where they would be read again, or answered. */
  async function hideFromHistory({ session, messages, cause }: Withdrawn): Promise<void> {
    const gone = [...messageIdsOf(cause), ...messages.flatMap(({ before }) => idsOf(before))];
    await answers.hide(session.channelId, [...new Set(gone)]);
    const replies = messages.map(({ before }) => (before.role === 'user' ? [] : before.replyTo));
    const answered = new Set(replies.flat());
    const waiting = messageIdsOf(cause).filter((id) => !answered.has(id));
    if (waiting.length > 0) await answers.markHandled(session.channelId, waiting);
  }

  async function record(noted: MessageChange): Promise<void> {
    recent.note(noted);
    const kept = asKept(noted, { ...ports, conversationsOf });
    // What the channel's last process left comes before it.
    await finishing;
    await order.run(noted.channelId, async () => takeIn(await kept));
  }

  /** In each conversation that has the messages; without any, nothing is on disk. */
  async function takeIn(about: MessageChange): Promise<void> {
    const { channelId } = about;
    const covering = { messages: [{ channelId, messageIds: messageIdsOf(about) }] };
    let isKnown = false;
    try {
      for (const { session, isHeld } of await conversationsOf(about))
        await writes.run(unconditional(session.userId), async () => {
          const { userId } = session;
          const affected = await log.affected(session, about).catch(() => undefined);
          if (affected?.length === 0 && !isHeld) return;
          isKnown = true;
          const cover = affected === undefined ? covering : coverOf(session, affected);
          const entry = recordOf(userId, about, cover);
          if (await isNoted(userId, entry)) await carryOut(entry);
        });
    } catch (error) {
      logger.error('whose messages were changed could not be looked up yet', { channelId, error });
      await isNoted(channelId, recordOf(channelId, about, covering));
    }
    if (!isKnown)
      await attempting(new Map(), { channelId }, logger)('answers', () => deleteAnswers(answers, about, []));
  }

  /** Nothing is done before it is on disk: after a kill nobody would finish it. Never rejects. */
  async function isNoted(id: string, entry: WithheldRecord): Promise<boolean> {
    try {
      await enter(id, entry);
      return true;
    } catch (error) {
      logger.error('a change could not be noted yet', { kind: entry.change.kind, id, error });
      unnoted.add(entry);
      await tryAgain(id);
      return false;
    }
  }

  /** The conversations that it may concern. */
  async function conversationsOf(about: MessageChange): Promise<readonly Concerned[]> {
    const held = await Promise.all(layers.map(async (layer) => (await layer.holdersOf?.(about)) ?? []));
    const found = [
      ...(await log.sessionsOf(about)).map((session) => ({ session, isHeld: false })),
      ...held.flat().map((session) => ({ session, isHeld: true })),
    ];
    return [...new Map(found.map((each) => [sessionName(each.session), each])).values()];
  }

  /** Carries out what is due of one person or channel; what is left is tried again. Rejects with `StoreError`. */
  async function finishFor(id: string, isLastTry = false): Promise<void> {
    for (const each of [...unnoted].filter(({ userId }) => userId === id)) {
      await enter(id, each);
      unnoted.delete(each);
    }
    const records = await recordsOf(id);
    for (const each of records.filter(({ change: about }) => about.kind === 'erased')) await carryOut(each);
    if (isLastTry) noteNew(records.map(({ change: about }) => about).filter(isOfMessages));
    const ofChannel = records.filter(({ change: about }) => isOfMessages(about) && about.channelId === id);
    if (ofChannel.length > 0) return order.run(id, () => takeInAgain(id, ofChannel));
    let left = 0;
    await writes.run(unconditional(id), async () => {
      await dropStrays(id);
      for (const each of await recordsOf(id)) {
        if (Date.parse(each.until) > clock().getTime() || each.change.kind === 'erased') continue;
        const isOver = isOvertaken(each, await recordsOf(id));
        if (isOver) await leave(id, each);
        else left += (await carryOut(each, isLastTry && each.change.kind !== 'purged')).failures.size;
      }
      const [next] = (await recordsOf(id)).map(({ until }) => until).toSorted();
      if (next !== undefined) await expireAt(id, laterOf(next));
    });
    if (left > 0) logger.warn('a change could not be carried out yet', { id, left });
  }

  /** Whose they are can be looked up by now, perhaps. */
  async function takeInAgain(id: string, records: readonly WithheldRecord[]): Promise<void> {
    for (const each of records) {
      const { change: about } = each;
      await leave(id, each);
      if (isOfMessages(about) && !isOvertaken(each, records)) await takeIn(about);
    }
  }

  /** What is known of its messages by now came after it, and stands. */
  function noteNew(left: readonly MessageChange[]): void {
    const known = new Set(left.flatMap(messageIdsOf).filter((id) => recent.latest(id) !== undefined));
    for (const about of left) {
      const messageIds = messageIdsOf(about).filter((id) => !known.has(id));
      if (messageIds.length > 0) recent.note(about.kind === 'edited' ? about : { ...about, messageIds });
    }
  }

  /** An edit that a later change of the message replaces: carried out, it would remove the present text. */
  function isOvertaken({ id, change: about }: WithheldRecord, records: readonly WithheldRecord[]): boolean {
    if (about.kind !== 'edited') return false;
    const latest = recent.latest(about.messageId);
    if (latest !== undefined && maskSecrets(latest.text ?? '') !== about.text) return true;
    const later = records.slice(records.findIndex((each) => each.id === id) + 1);
    return later.some(
      ({ change: other }) =>
        (other.kind === 'edited' && other.messageId === about.messageId) ||
        (other.kind === 'deleted' && other.messageIds.includes(about.messageId)),
    );
  }

  /** After a start: what processes that are gone have left, erasings first. Never rejects. */
  function finish(): Promise<void> {
    finishing = Promise.resolve(finishing).then(finishAll);
    return finishing;
  }

  async function finishAll(): Promise<void> {
    for (const id of await ids().catch(unread))
      await finishFor(id, true).catch((error: unknown) => {
        logger.error('a change that was left stays', { id, error });
        return tryAgain(id);
      });
  }

  function unread(error: unknown): readonly [] {
    logger.error('changes that were left could not be read yet', { error });
    return [];
  }

  /** Rejects with `StoreError` where it could not be noted [K11]; nothing has changed then. */
  function erase(userId: string, at: string): Promise<Failures> {
    const entry = recordOf(userId, { kind: 'erased', at });
    const work = enter(userId, entry).then(() => carryOut(entry));
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

  /** As one job of the person's queue. Rejects with `StoreError` where it could not be noted. */
  function enterAndCarryOut(entry: WithheldRecord): Promise<Outcome> {
    return writes.run(unconditional(entry.userId), async () => {
      await enter(entry.userId, entry);
      return carryOut(entry);
    });
  }

  /**
   * Deletes what says some words from all that is held about a person, messages with their answers [K11]. What is on
   * its way into the log was said before too, and goes when its turn is over.
   */
  async function purge({ userId, ...about }: Omit<Purged, 'kind'>): Promise<Outcome> {
    const entry = recordOf(userId, { kind: 'purged', ...about });
    const over = ports.turnsOver?.(userId);
    if (over !== undefined) {
      const again = recordOf(userId, entry.change);
      await enter(userId, again);
      void over
        .then(() => writes.run(unconditional(userId), () => carryOut(again)))
        .catch((error: unknown) => logger.error('a change could not be tried again yet', { userId, error }));
    }
    return enterAndCarryOut(entry);
  }

  return {
    record,
    /** Resolves when the edits and deletions known in a channel by now were carried out, or tried. */
    async settled(channelId: string): Promise<void> {
      await finishing;
      await order.run(channelId, () => Promise.resolve());
    },
    enter,
    leave,
    recordsOf,
    erase,
    /** Resolves when a person is not being erased any more; what they say meanwhile waits for it. */
    erased: async (userId: string): Promise<void> => void (await erasing.get(userId)),
    erasedElsewhere,
    purge,
    /** Deletes messages that are too old [K15]. Resolves with whether every layer could follow. */
    async expire(about: {
      userId: string;
      channelId: string;
      messageIds: readonly string[];
    }): Promise<boolean> {
      const { userId, channelId, messageIds } = about;
      const entry = recordOf(
        userId,
        { kind: 'expired', channelId, messageIds },
        { messages: [{ channelId, messageIds }] },
      );
      return (await enterAndCarryOut(entry)).failures.size === 0;
    },
    finish,
    finishFor,
    ids,
  };
}

/** What was said since a command stays, with the answers to it, though a later start finishes the command. */
function isBefore(commandId: string): (message: LoggedMessage) => boolean {
  return (message) => {
    const request = message.role === 'assistant' ? message.replyTo.at(-1) : undefined;
    return !isYounger(request ?? message.id, commandId);
  };
}

function isOfMessages(change: WithheldRecord['change']): change is MessageChange {
  return change.kind === 'edited' || change.kind === 'deleted';
}
