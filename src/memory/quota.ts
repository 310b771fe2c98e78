import { unconditional, type Writes } from '../core/writes.ts';
import { limits } from '../core/limits.ts';
import type { Logger } from '../core/logger.ts';
import type { SessionKey } from '../core/place.ts';
import type { Store } from '../core/store.ts';
import { cursorOfNote } from './log/kept-summary.ts';
import { logRecordSchema } from './log/records.ts';
import type { SweepRow } from './sweeper.ts';
import type { SessionLog } from './log/session-log.ts';
import {
  logKey,
  sessionFolder,
  type FoldName,
  type SessionState,
  type SessionStates,
} from './log/session-state.ts';

/** The layers that go through the log by a cursor. */
type CursorName = FoldName | 'rolling';

/** Making room leaves this share in use, so that it is not needed in every sweep. */
const usedAfterwards = 0.9;

/**
 * What a person has beyond their quota [L3]: the oldest messages that every layer has folded, and the oldest replaced
 * summaries; never items, present summaries, or a notebook's files but its oldest daily logs.
 */
export function tooMuch(options: {
  readonly store: Store;
  readonly writes: Pick<Writes, 'run'>;
  readonly log: Pick<SessionLog, 'sessionsOfPerson' | 'dropLines'>;
  readonly states: Pick<SessionStates, 'read'>;
  /** Of one person's files, without backups. */
  readonly maxBytes: number;
  /** The active layers that fold the log. */
  readonly folds: readonly CursorName[];
  readonly logger: Logger;
}): SweepRow {
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
      for (const { key, day } of await keptSummaries(session)) if (day < before) await store.remove(key);
    }
    const used = await measure(userId);
    logger.info('the oldest messages of a person were dropped for their quota', { userId, before, used });
    if (used > maxBytes)
      logger.warn('a person has more on disk than their quota', { userId, used, maxBytes });
  }

  /** What may go of a session, each part with its bytes and its time. */
  async function partsOf(session: SessionKey): Promise<readonly Part[]> {
    const upTo = foldedUpTo(await states.read(session), folds);
    const parts: Part[] = (await keptSummaries(session)).map(({ day, bytes }) => ({ at: day, bytes }));
    for await (const { sequence, record } of store.scan(logKey(session), logRecordSchema)) {
      if (sequence > upTo) break;
      parts.push({ at: record.at, bytes: Buffer.byteLength(JSON.stringify(record)) });
    }
    return parts;
  }

  async function keptSummaries(session: SessionKey) {
    const folder = `${sessionFolder(session)}/detail`;
    const notes = (await store.list(folder)).filter(({ path }) => cursorOfNote(path) !== undefined);
    return notes.map(({ path, bytes }) => ({ key: `${folder}/${path}`, day: path.slice(0, 10), bytes }));
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

/** A line of a log, or a replaced summary. `at` is ISO 8601, a moment or a day. */
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
