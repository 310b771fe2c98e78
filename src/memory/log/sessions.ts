import { z } from 'zod';

import { guildOfPlace, type ChannelGuild, type Place, type SessionKey } from '../../core/place.ts';
import { assertSnowflake, compareSnowflakes, isSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, LogEntry, Store } from '../../core/store.ts';
import { logRecordSchema, type LogRecord } from './records.ts';
import { channelFolder, logFile, logKey, readState, sessionsFolder } from './session-state.ts';

const listSchema = z.object({ version: z.literal(1), channels: z.array(z.string()).readonly() });

export const sessionsKind: DocumentKind<z.infer<typeof listSchema>> = { version: 1, schema: listSchema };

export type Sessions = ReturnType<typeof createSessions>;

/** Which sessions there are; read each time, as another process may have erased them. Rejects with `StoreError`. */
export function createSessions(store: Store) {
  async function foldersIn(channelId: string, name?: string) {
    const folders = await store.folders(channelFolder(channelId), name);
    const users = folders.filter((folder) => isSnowflake(folder.name) && folder.changedAt > 0);
    return users.toSorted((a, b) => b.changedAt - a.changedAt);
  }

  async function inChannel(channelId: string, name?: string): Promise<readonly SessionKey[]> {
    return (await foldersIn(channelId, name)).map((folder) => ({ channelId, userId: folder.name }));
  }

  async function all(): Promise<readonly SessionKey[]> {
    const channels = (await store.folders(sessionsFolder)).filter(({ name }) => isSnowflake(name));
    const sessions: SessionKey[] = [];
    for (const { name } of channels) sessions.push(...(await inChannel(name)));
    return sessions;
  }

  /** All sessions of a person with anything in their folders. */
  async function foundOf(userId: string): Promise<readonly SessionKey[]> {
    const channels = await store.folders(sessionsFolder, userId);
    return channels.flatMap(({ name: channelId, changedAt }) =>
      isSnowflake(channelId) && changedAt > 0 ? { channelId, userId } : [],
    );
  }

  async function listOf(userId: string): Promise<readonly string[]> {
    const list = await store.read(sessionsKey(userId), sessionsKind);
    return list?.channels ?? (await foundOf(userId)).map(({ channelId }) => channelId);
  }

  /** All sessions of a person, and perhaps some that are gone. */
  async function ofPerson(userId: string): Promise<readonly SessionKey[]> {
    return (await listOf(userId)).map((channelId) => ({ channelId, userId }));
  }

  async function everyOfPerson(userId: string): Promise<readonly SessionKey[]> {
    const both = [...(await foundOf(userId)), ...(await ofPerson(userId))];
    return [...new Map(both.map((session) => [session.channelId, session])).values()];
  }

  /** Where a channel is, from anybody's state there. */
  async function placeOf(channelId: string): Promise<Place | undefined> {
    for (const session of await inChannel(channelId)) {
      const { place } = await readState(store, session);
      if (place !== undefined) return place;
    }
    return undefined;
  }

  return {
    /** To be called before anything is kept of a session. */
    async begin(this: void, { channelId, userId }: SessionKey): Promise<void> {
      const list = await store.read(sessionsKey(userId), sessionsKind);
      if (list?.channels.includes(channelId) === true) return;
      const before = await listOf(userId);
      await store.update(
        sessionsKey(userId),
        sessionsKind,
        (present) => {
          const channels = new Set([...(present?.channels ?? before), channelId]);
          return { version: 1 as const, channels: [...channels].toSorted() };
        },
        // So that the last good copy lacks none.
        { erase: true },
      );
    },
    ofPerson,
    /** The same, with unlisted ones that somebody put there by hand. */
    everyOfPerson,
    /** A channel's guild, from anybody's state there. */
    async guildOf(this: void, channelId: string): Promise<ChannelGuild> {
      const place = await placeOf(channelId);
      return place === undefined ? { kind: 'unknown' } : guildOfPlace(place);
    },
    /** A channel's threads, from anybody's state in each; looks through the folders of all channels. */
    async threadsOf(this: void, channelId: string): Promise<readonly string[]> {
      const threads: string[] = [];
      for (const { name } of await store.folders(sessionsFolder))
        if (isSnowflake(name) && (await placeOf(name))?.parentId === channelId) threads.push(name);
      return threads;
    },
    /** Those of a channel with a log, the most recently written first. */
    inChannel: (channelId: string) => inChannel(channelId, logFile),
    /** Those whose log changed at a time or later, in milliseconds since the epoch. */
    async changedSince(channelId: string, time: number): Promise<readonly SessionKey[]> {
      const changed = (await foldersIn(channelId, logFile)).filter(({ changedAt }) => changedAt >= time);
      return changed.map(({ name }) => ({ channelId, userId: name }));
    },
    /** All with anything on disk, notes and summaries included; looks through all folders. */
    all,
    /** Takes sessions off the list. The whole list goes with the person's folder, last. */
    async takeOff(userId: string, sessions: readonly SessionKey[]): Promise<void> {
      const gone = new Set(sessions.map(({ channelId }) => channelId));
      await store.update(
        sessionsKey(userId),
        sessionsKind,
        (list) => list && { ...list, channels: list.channels.filter((channelId) => !gone.has(channelId)) },
        { erase: true },
      );
    },
  };
}

/** @throws {RangeError} when the id is not a Discord id [S6]. */
function sessionsKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/sessions.json`;
}

const firstWindow = 16;

export type LogLines = ReturnType<typeof createLogLines>;

/** The lines of sessions' logs, as they are on disk. Rejects with `StoreError`. */
export function createLogLines(store: Store, sessions: Pick<Sessions, 'begin'>) {
  /** In order. */
  async function after(session: SessionKey, cursor: number): Promise<readonly LogEntry<LogRecord>[]> {
    const entries: LogEntry<LogRecord>[] = [];
    for await (const entry of store.scan(logKey(session), logRecordSchema, { after: cursor }))
      entries.push(entry);
    return entries;
  }

  /** Part of a job of the person's queue; resolves when it is on disk. */
  async function append(session: SessionKey, record: LogRecord): Promise<void> {
    await sessions.begin(session);
    await store.append(logKey(session), record);
  }

  return {
    after,
    append,
    /** From before the messages with these ids, which grow with time for the person's messages and for replies. */
    async covering(session: SessionKey, ids: readonly string[]): Promise<readonly LogEntry<LogRecord>[]> {
      const oldest = ids.toSorted(compareSnowflakes)[0];
      if (oldest === undefined) return [];
      const { last } = await store.logState(logKey(session));
      // Before all there is what begins at 0.
      for (let size = oldest === '0' ? last : firstWindow; ; size *= 4) {
        const start = Math.max(0, last - size);
        const entries = await after(session, start);
        const beginsBefore = (['user', 'assistant'] as const).every((role) => {
          const first = entries.find(({ record }) => record.type === 'message' && record.role === role);
          return first !== undefined && compareSnowflakes(first.record.id, oldest) < 0;
        });
        if (start === 0 || beginsBefore) return entries;
      }
    },
    /** Resolves when all are on disk; they share writes [S2]. */
    async appendAll(session: SessionKey, records: readonly LogRecord[]): Promise<void> {
      await sessions.begin(session);
      await Promise.all(records.map((record) => store.append(logKey(session), record)));
    },
    /** `undefined` removes a record. */
    async rewrite(
      session: SessionKey,
      change: (entry: LogEntry<LogRecord>) => LogRecord | undefined,
    ): Promise<void> {
      await store.rewrite(logKey(session), logRecordSchema, change);
    },
  };
}
