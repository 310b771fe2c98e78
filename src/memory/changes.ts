import { messageIdsOf, type MessageChange, type RecentChanges } from '../core/changes.ts';
import type { ChannelPort } from '../core/channels.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { sessionName, type SessionKey } from '../core/place.ts';
import type { Notice } from '../core/processes.ts';
import { maskSecrets } from '../core/secrets.ts';
import type { Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import { reachIn } from '../core/visibility.ts';
import { unconditional, type Writes } from '../core/writes.ts';
import {
  attempting,
  createDeleting,
  deleteAnswers,
  type DeletingPorts,
  type Failures,
  type Outcome,
} from './deleting.ts';
import type { Purged } from './layer.ts';
import type { SessionLog } from './log/session-log.ts';
import {
  coverOf,
  createChangeRecords,
  emptyRecord,
  isSupersededBy,
  sessionsIn,
  wholly,
  type WithheldRecord,
} from './withheld.ts';

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

export interface ChangeLedgerPorts extends DeletingPorts {
  readonly store: Pick<Store, 'read' | 'update' | 'remove' | 'removeAll' | 'list'>;
  readonly recent: RecentChanges;
  readonly writes: Pick<Writes, 'run' | 'runInWorkspace'>;
  readonly log: DeletingPorts['log'] & Pick<SessionLog, 'sessionsOf' | 'message' | 'sessionsOfPerson'>;
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

/** A conversation that a change may concern. `isHeld`: a layer has something of it that no log may have. */
interface Concerned {
  readonly session: SessionKey;
  readonly isHeld: boolean;
}

export type ChangeLedger = ReturnType<typeof createChangeLedger>;

/** The one way in which a change reaches all that holds words [F5]. */
export function createChangeLedger(ports: ChangeLedgerPorts) {
  const { recent, writes, log, layers, answers, expireAt, clock, logger } = ports;
  const { recordsOf, enter, leave, dropStrays, ids, laterOf } = createChangeRecords(ports);
  const deleteCovered = createDeleting(ports);
  let finishing: Promise<void> | undefined;
  const order = createKeyedQueue();
  /** What the disk did not even take the record of. */
  const unnoted = new Set<WithheldRecord>();
  /** People who are being erased. */
  const erasing = new Map<string, Promise<unknown>>();

  function recordOf(
    userId: string,
    about: WithheldRecord['change'],
    messages: WithheldRecord['messages'] = [],
  ): WithheldRecord {
    return { ...emptyRecord(userId, clock().toISOString(), about), messages };
  }

  /** Part of a job of the person's queue, but for an erasing. The record goes when every layer has followed. */
  async function carryOut(entry: WithheldRecord): Promise<Outcome> {
    const { userId, change: about } = entry;
    const outcome = await deleteCovered(entry);
    if (outcome.failures.size > 0) await tryAgain(userId);
    else await leave(userId, entry).catch(() => tryAgain(userId));
    const all = about.kind === 'purged' ? log.sessionsOfPerson(userId).catch(() => []) : sessionsIn(entry);
    for (const session of await all) ports.changed(session);
    return outcome;
  }

  /** Never rejects: where the queue cannot take it either, the next start does it. */
  async function tryAgain(id: string): Promise<void> {
    await expireAt(id, laterOf(clock().toISOString())).catch(() => undefined);
  }

  async function record(noted: MessageChange): Promise<void> {
    recent.note(noted);
    const kept = asKept(noted);
    // What the channel's last process left comes before it.
    await finishing;
    await order.run(noted.channelId, async () => takeIn(await kept));
  }

  /**
   * A change as it goes to the disk: secrets masked [K14], with who can read the channel now [V1]. An edit made in a
   * pause takes the message out [K9], unless the log has these words already.
   */
  async function asKept(noted: MessageChange): Promise<MessageChange> {
    if (noted.kind === 'deleted') return noted;
    const { channelId, messageId } = noted;
    const reach = reachIn(channelId, await ports.placeOf(channelId));
    const kept = { ...noted, text: maskSecrets(noted.text), reach };
    // What cannot be looked at may be theirs.
    return (await mayKeep(kept).catch(() => false))
      ? kept
      : { kind: 'deleted', channelId, messageIds: [messageId] };
  }

  /** Where Discord does not tell whose it is, those count who have the message. */
  async function mayKeep(about: Extract<MessageChange, { kind: 'edited' }>): Promise<boolean> {
    const { channelId, messageId, authorId: userId, text, editedAt } = about;
    const own = userId === undefined ? undefined : [{ session: { channelId, userId }, isHeld: true }];
    for (const { session, isHeld } of own ?? (await conversationsOf(about))) {
      if (await ports.mayStore(session, editedAt)) continue;
      const known = await log.message(session, messageId);
      if (known !== text && (isHeld || known !== undefined)) return false;
    }
    return true;
  }

  /** In each conversation that has the messages; without any, nothing is on disk. */
  async function takeIn(about: MessageChange): Promise<void> {
    const { channelId } = about;
    const whole = wholly(channelId, messageIdsOf(about));
    let isKnown = false;
    try {
      for (const { session, isHeld } of await conversationsOf(about))
        await writes.run(unconditional(session.userId), async () => {
          const { userId } = session;
          const affected = await log.affected(session, about).catch(() => undefined);
          if (affected?.length === 0 && !isHeld) return;
          isKnown = true;
          const entry = recordOf(userId, about, affected === undefined ? whole : coverOf(session, affected));
          if (await isNoted(userId, entry)) await carryOut(entry);
        });
    } catch (error) {
      logger.error('whose messages were changed could not be looked up yet', { channelId, error });
      await isNoted(channelId, recordOf(channelId, about, whole));
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
      unnoted.add({ ...entry, userId: id });
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
  async function finishFor(id: string): Promise<void> {
    for (const each of [...unnoted].filter(({ userId }) => userId === id)) {
      await enter(id, each);
      unnoted.delete(each);
    }
    const records = await recordsOf(id);
    for (const each of records.filter(({ change: about }) => about.kind === 'erased')) await carryOut(each);
    const ofChannel = records.filter(({ change: about }) => isOfMessages(about) && about.channelId === id);
    if (ofChannel.length > 0) return order.run(id, () => takeInAgain(id, ofChannel));
    let left = 0;
    await writes.run(unconditional(id), async () => {
      await dropStrays(id);
      for (const each of await recordsOf(id)) {
        if (Date.parse(each.until) > clock().getTime() || each.change.kind === 'erased') continue;
        if (isOvertaken(each, await recordsOf(id))) await leave(id, each);
        else left += (await carryOut(each)).failures.size;
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
  function isOvertaken(entry: WithheldRecord, records: readonly WithheldRecord[]): boolean {
    const { id, change: about } = entry;
    if (about.kind !== 'edited') return false;
    const latest = recent.latest(about.messageId);
    if (latest !== undefined && maskSecrets(latest.text ?? '') !== about.text) return true;
    const later = records.slice(records.findIndex((each) => each.id === id) + 1);
    return later.some((each) => isSupersededBy(entry, each));
  }

  /** After a start: what processes that are gone have left, erasings first. Never rejects. */
  function finish(): Promise<void> {
    finishing = Promise.resolve(finishing).then(finishAll);
    return finishing;
  }

  async function finishAll(): Promise<void> {
    const all = await ids().catch((error: unknown) => {
      logger.error('changes that were left could not be read yet', { error });
      return [];
    });
    for (const id of all)
      try {
        noteNew((await recordsOf(id)).map(({ change: about }) => about).filter(isOfMessages));
        await finishFor(id);
      } catch (error) {
        logger.error('a change that was left stays', { id, error });
        await tryAgain(id);
      }
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
    /** Deletes messages of one conversation that are too old [K15]. Resolves with whether every layer could follow. */
    async expire(session: SessionKey, messageIds: readonly string[]): Promise<boolean> {
      const { userId, channelId } = session;
      const whole = wholly(channelId, messageIds);
      const entry = recordOf(userId, { kind: 'expired' }, whole);
      return (await enterAndCarryOut(entry)).failures.size === 0;
    },
    finish,
    finishFor,
    ids,
  };
}

function isOfMessages(change: WithheldRecord['change']): change is MessageChange {
  return change.kind === 'edited' || change.kind === 'deleted';
}
