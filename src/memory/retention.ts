import type { HistoryPort, ReadChannel } from '../core/channels.ts';
import type { ReadReplied } from '../core/message.ts';
import { type Writes, unconditional } from '../core/writes.ts';
import type { Logger } from '../core/logger.ts';
import { type SessionKey, sessionName } from '../core/place.ts';
import type { Locks } from '../core/processes.ts';
import { isSnowflake, snowflakeTime } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import { localDate, type Clock, type Timer } from '../core/time.ts';
import type { ChangeLedger } from './changes.ts';
import type { DurableMemory } from './durable/durable-memory.ts';
import type { MemoryLayer } from './layer.ts';
import { idsOf, logRecordSchema } from './log/records.ts';
import type { SessionLog } from './log/session-log.ts';
import { logKey } from './log/session-state.ts';
import { dropDatedNotes } from './notebook/withdraw.ts';

const dayMs = 24 * 60 * 60_000;

/** Messages that go with one record of the ledger. */
const messagesAtOnce = 1000;

/**
 * Deletes old messages and what rests on them alone [K15], at the start and every day. The age is that of the id; an
 * answer goes with the question. The ledger or the next pass finishes after a kill.
 */
export function createRetention(options: {
  /** How long messages are kept; 0 for ever. */
  readonly days: number;
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: Pick<Writes, 'run'>;
  readonly log: Pick<SessionLog, 'allSessions' | 'dropLines'>;
  readonly changes: Pick<ChangeLedger, 'expire'>;
  readonly durable: Pick<DurableMemory, 'expire'>;
  /** Erased with the last message of a conversation, the log last, by which the next pass knows of it. */
  readonly layers: readonly Pick<MemoryLayer, 'delete'>[];
  /** Takes answers out that were kept for messages which `isPast` picks, and resolves with how many. */
  readonly dropAnswers: (isPast: (messageId: string) => boolean) => Promise<number>;
  /** Other processes may do it as well: one at a time does. */
  readonly locks: Pick<Locks, 'claim'>;
  readonly clock: Clock;
  readonly timer: Timer;
  /** IANA. */
  readonly timeZone: string;
  readonly logger: Logger;
}) {
  const { days, store, writes, log, changes, durable, layers, clock, timer, timeZone, logger } = options;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  const cutoff = (): Date => new Date(clock().getTime() - days * dayMs);

  /** Whether a message is too old to be used or kept. */
  function isPast(messageId: string): boolean {
    return days > 0 && isSnowflake(messageId) && snowflakeTime(messageId) < cutoff();
  }

  const youngOf = <Message extends { readonly id: string }>(messages: readonly Message[]) =>
    messages.filter(({ id }) => !isPast(id));

  /** The ids of what the log has of old messages, whether it has nothing else, and whether it is there at all. */
  async function lookThrough(session: SessionKey) {
    const ids: string[] = [];
    let lines = 0;
    let young = 0;
    for await (const { record } of store.scan(logKey(session), logRecordSchema)) {
      const own = record.type === 'message' ? idsOf(record) : [record.id];
      lines += 1;
      if (!own.every(isPast)) young += 1;
      else if (record.type === 'message') ids.push(record.id);
    }
    return { ids, lines, isWhollyPast: lines > 0 && young === 0 };
  }

  async function passSession(session: SessionKey): Promise<number> {
    const { userId, channelId } = session;
    const { ids } = await lookThrough(session);
    for (let at = 0; at < ids.length; at += messagesAtOnce) {
      if (isStopped) return at;
      const messageIds = ids.slice(at, at + messagesAtOnce);
      if (!(await changes.expire({ userId, channelId, messageIds }))) return at;
    }
    await writes.run(unconditional(userId), async () => {
      // Somebody may have written meanwhile.
      const { ids: left, lines, isWhollyPast } = await lookThrough(session);
      if (left.length > 0) return;
      await dropDatedNotes(store, session, localDate(cutoff(), timeZone));
      if (isWhollyPast)
        for (const layer of layers)
          await layer.delete({ kind: 'conversations', userId, sessions: [session] });
      // Nobody has the messages any more, so nobody needs to know which of them were deleted.
      else if (lines > 0)
        await log.dropLines(session, ({ record }) => record.type !== 'message' && isPast(record.id));
    });
    return ids.length;
  }

  async function pass(): Promise<void> {
    const counts = { messages: 0, items: 0, answers: 0, failed: 0 };
    const attempt = async (what: string, work: () => Promise<void>): Promise<void> => {
      if (isStopped) return;
      try {
        await work();
      } catch (error) {
        counts.failed += 1;
        logger.error('expired messages could not be erased; trying again tomorrow', { what, error });
      }
    };
    let sessions: readonly SessionKey[] = [];
    let people: readonly string[] = [];
    await attempt('all', async () => {
      sessions = await log.allSessions();
      people = (await store.folders('users')).flatMap(({ name }) => (isSnowflake(name) ? [name] : []));
    });
    for (const session of sessions)
      await attempt(sessionName(session), async () => {
        counts.messages += await passSession(session);
      });
    for (const userId of people)
      await attempt(userId, async () => {
        counts.items += await durable.expire(unconditional(userId), isPast);
      });
    await attempt('answers', async () => {
      counts.answers = await options.dropAnswers(isPast);
    });
    if (!isStopped) logger.info('messages older than the retention limit were erased', { days, ...counts });
  }

  /** For all, as one process at a time does; if it dies midway, the next one starts over. */
  async function passAlone(): Promise<void> {
    const own = await options.locks.claim('retention');
    if (own === undefined) return;
    try {
      await pass();
    } finally {
      await own.release();
    }
  }

  function run(): void {
    running = passAlone()
      .catch((error: unknown) => logger.error('expired messages could not be looked for', { error }))
      .finally(() => {
        if (!isStopped) cancel = timer(run, dayMs);
      });
  }

  return {
    isPast,
    /** Looks now, and every day. Where messages are kept for ever it does nothing. Never throws. */
    start(): void {
      if (days > 0 && !isStopped) run();
    },
    /** Ends the pass that runs where it can be left to the next one. */
    stop(): void {
      isStopped = true;
      cancel?.();
    },
    /** Resolves when no pass runs. */
    idle: (): Promise<void> => running,
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
