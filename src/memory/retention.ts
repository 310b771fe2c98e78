import type { HistoryPort, ReadChannel } from '../core/channels.ts';
import { limits } from '../core/limits.ts';
import type { ReadReplied } from '../core/message.ts';
import type { SessionKey } from '../core/place.ts';
import { isSnowflake, snowflakeTime } from '../core/snowflake.ts';
import { chunk } from '../core/text.ts';
import { localDate, type Clock } from '../core/time.ts';
import { unconditional } from '../core/writes.ts';
import type { ChangeLedger } from './changes.ts';
import type { DurableMemory } from './durable/durable-memory.ts';
import type { MemoryLayer } from './layer.ts';
import { idsOf, logRecordSchema } from './log/records.ts';
import {
  logKey,
  sessionFolder,
  type FoldName,
  type SessionState,
  type SessionStates,
} from './log/session-state.ts';
import { dropDatedNotes } from './notebook/withdraw.ts';
import type { SweepPorts, SweepRow } from './sweeper.ts';

const dayMs = 24 * 60 * 60_000;

/** Messages that go with one record of the ledger. */
const messagesAtOnce = 1000;

export type Retention = ReturnType<typeof createRetention>;

/** How long messages are kept [K15]: so many days, 0 for ever. The age is that of the id. */
export function createRetention(days: number, clock: Clock) {
  const cutoff = (): Date => new Date(clock().getTime() - days * dayMs);

  /** Whether a message is too old to be used or kept. */
  function isPast(messageId: string): boolean {
    return days > 0 && isSnowflake(messageId) && snowflakeTime(messageId) < cutoff();
  }

  const youngOf = <Message extends { readonly id: string }>(messages: readonly Message[]) =>
    messages.filter(({ id }) => !isPast(id));

  return {
    cutoff,
    isPast,
    /** The same history without what is too old, though it stands on Discord. */
    young: (history: HistoryPort): HistoryPort => ({
      recent: async (channelId, limit) => youngOf(await history.recent(channelId, limit)),
    }),
    /** The same for what is read of a channel. */
    youngTalk:
      (read: ReadChannel): ReadChannel =>
      async (wish) => {
        const talk = await read(wish);
        return talk.kind === 'read' ? { ...talk, messages: youngOf(talk.messages) } : talk;
      },
    /** The same for a message that another one replies to. */
    youngReplied:
      (read: ReadReplied): ReadReplied =>
      async (reference) =>
        isPast(reference.id) ? 'gone' : read(reference),
  };
}

/** Old messages and what rests on them alone [K15]; an answer goes with the question. Not where they are kept for ever. */
export function tooOld(
  options: SweepPorts & {
    readonly retention: Retention;
    readonly changes: Pick<ChangeLedger, 'expire'>;
    readonly durable: Pick<DurableMemory, 'expire'>;
    /** Erased with the last message of a conversation, the log last, by which the next sweep knows of it. */
    readonly layers: readonly Pick<MemoryLayer, 'delete'>[];
    /** Takes answers out that were kept for messages which `isPast` picks. */
    readonly dropAnswers: (isPast: (messageId: string) => boolean) => Promise<unknown>;
    /** IANA. */
    readonly timeZone: string;
  },
): SweepRow {
  const { store, writes, log, changes, durable, layers, dropAnswers, timeZone } = options;
  const { isPast, cutoff } = options.retention;

  /** The ids of the old messages in a log. It is in the order of time, so a young first line ends the look. */
  async function lookThrough(session: SessionKey) {
    const ids: string[] = [];
    let old = 0;
    let young = 0;
    for await (const { record } of store.scan(logKey(session), logRecordSchema)) {
      const isOld = (record.type === 'message' ? idsOf(record) : [record.id]).every(isPast);
      if (isOld) old += 1;
      else young += 1;
      if (old === 0) break;
      if (isOld && record.type === 'message') ids.push(record.id);
    }
    return { ids, hasOld: old > 0, isWhollyOld: old > 0 && young === 0 };
  }

  async function sweepSession(session: SessionKey, signal: AbortSignal): Promise<void> {
    const { userId } = session;
    const { ids } = await lookThrough(session);
    for (const messageIds of chunk(ids, () => 0, Infinity, messagesAtOnce))
      if (signal.aborted || !(await changes.expire(session, messageIds))) return;
    await writes.run(unconditional(userId), async () => {
      // Somebody may have written meanwhile.
      const { ids: left, hasOld, isWhollyOld } = await lookThrough(session);
      if (left.length > 0) return;
      await dropDatedNotes(store, session, localDate(cutoff(), timeZone));
      if (isWhollyOld)
        for (const layer of layers)
          await layer.delete({ kind: 'conversations', userId, sessions: [session] });
      // Nobody has the messages any more, so nobody needs to know which of them were deleted.
      else if (hasOld)
        await log.dropLines(session, ({ record }) => record.type !== 'message' && isPast(record.id));
    });
  }

  return async ({ sessions, people, signal }) => {
    await sessions((session) => sweepSession(session, signal));
    await people((userId) => durable.expire(unconditional(userId), isPast));
    await dropAnswers(isPast);
  };
}

/** The layers that go through the log by a cursor. */
type CursorName = FoldName | 'rolling';

/** Making room leaves this share in use, so that it is not needed in every sweep. */
const usedAfterwards = 0.9;

/**
 * What a person has beyond their quota [L3]: the oldest messages that every layer has folded; never items, summaries, or
 * a notebook's files but its oldest daily logs.
 */
export function tooMuch(
  options: SweepPorts & {
    readonly states: Pick<SessionStates, 'read'>;
    /** Of one person's files, without backups. */
    readonly maxBytes: number;
    /** The active layers that fold the log. */
    readonly folds: readonly CursorName[];
  },
): SweepRow {
  const { store, writes, log, states, maxBytes, folds, logger } = options;

  /** In bytes. */
  async function measure(userId: string): Promise<number> {
    const sessions = await log.sessionsOfPerson(userId);
    const listed = [`users/${userId}`, ...sessions.map(sessionFolder)].map((folder) => store.list(folder));
    return (await Promise.all(listed)).flat().reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async function makeRoom(userId: string, excess: number): Promise<void> {
    const sessions = await log.sessionsOfPerson(userId);
    const parts = (await Promise.all(sessions.map(partsOf))).flat();
    const before = momentBefore(parts, excess);
    for (const session of sessions) {
      const upTo = foldedUpTo(await states.read(session), folds);
      await log.dropLines(session, ({ sequence, record }) => sequence <= upTo && record.at < before);
    }
    const used = await measure(userId);
    logger.info('the oldest messages of a person were dropped for their quota', { userId, before, used });
    if (used > maxBytes)
      logger.warn('a person has more on disk than their quota', { userId, used, maxBytes });
  }

  /** What may go of a session, each part with its bytes and its time. */
  async function partsOf(session: SessionKey): Promise<readonly Part[]> {
    const upTo = foldedUpTo(await states.read(session), folds);
    const parts: Part[] = [];
    for await (const { sequence, record } of store.scan(logKey(session), logRecordSchema)) {
      if (sequence > upTo) break;
      parts.push({ at: record.at, bytes: Buffer.byteLength(JSON.stringify(record)) });
    }
    return parts;
  }

  /** Their days never change, so this needs no job of its own. */
  async function trimDailyLogs(userId: string): Promise<void> {
    const folder = `users/${userId}/notebook/daily`;
    const days = (await store.list(folder)).filter(({ path }) => /^\d{4}-\d\d-\d\d\.md$/u.test(path));
    for (const { path } of days.slice(0, -limits.dailyLogs)) await store.remove(`${folder}/${path}`);
  }

  return ({ people }) =>
    people(async (userId) => {
      await trimDailyLogs(userId);
      const used = await measure(userId);
      if (used <= maxBytes) return;
      await writes.run(unconditional(userId), () => makeRoom(userId, used - maxBytes * usedAfterwards));
    });
}

/** A line of a log. `at` is ISO 8601. */
interface Part {
  readonly at: string;
  readonly bytes: number;
}

/** The moment before which at least so many bytes lie, or all parts. */
function momentBefore(parts: readonly Part[], bytes: number): string {
  let left = bytes;
  for (const { at, bytes: size } of parts.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))) {
    if (left <= 0) return at;
    left -= size;
  }
  return '~';
}

/** Up to which line every layer has folded; one without a cursor holds nothing back. */
function foldedUpTo(state: SessionState, folds: readonly CursorName[]): number {
  const cursors = folds.map((name) =>
    name === 'rolling' ? (state.rolling?.cursor ?? 0) : (state[name]?.cursor ?? Infinity),
  );
  return Math.min(Infinity, ...cursors);
}
