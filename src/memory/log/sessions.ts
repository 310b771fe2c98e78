import { z } from 'zod';

import { lruCache } from '../../core/limits.ts';
import { guildOfPlace, type ChannelGuild, type SessionKey } from '../../core/place.ts';
import { assertSnowflake, isSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import { createTimeSlice } from '../../core/time.ts';
import type { Erasure } from '../layer.ts';
import { channelFolder, logFile, readState, sessionsFolder } from './session-state.ts';

interface PersonSessions {
  readonly version: 1;
  readonly channels: readonly string[];
}

export const sessionsKind: DocumentKind<PersonSessions> = {
  version: 1,
  schema: z.object({ version: z.literal(1), channels: z.array(z.string()).readonly() }),
};

/** Channels whose guild is remembered. */
const rememberedChannels = 100_000;

export type Sessions = ReturnType<typeof createSessions>;

/** Which sessions there are; read each time, as another process may have erased them. Rejects with `StoreError`. */
export function createSessions(store: Store) {
  /** A channel's guild never changes. */
  const guilds = lruCache<string, ChannelGuild>(rememberedChannels);

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

  async function guildOfSession(session: SessionKey): Promise<ChannelGuild> {
    const known = guilds.get(session.channelId);
    if (known !== undefined) return known;
    const { place } = await readState(store, session);
    if (place === undefined) return { kind: 'unknown' };
    const guild = guildOfPlace(place);
    guilds.set(session.channelId, guild);
    return guild;
  }

  return {
    /** To be called before anything is kept of a session. */
    async begin({ channelId, userId }: SessionKey): Promise<void> {
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
    /** The servers of a person's sessions, from their state. Each channel's is read once. */
    async guildsOf(userId: string): Promise<readonly string[]> {
      const channels = await Promise.all((await ofPerson(userId)).map(guildOfSession));
      return [...new Set(channels.flatMap((guild) => (guild.kind === 'guild' ? guild.guildId : [])))];
    },
    /** A channel's guild, from anybody's state there. Read once for each. */
    async guildOf(channelId: string): Promise<ChannelGuild> {
      const known = guilds.get(channelId);
      if (known !== undefined) return known;
      for (const session of await inChannel(channelId)) {
        const guild = await guildOfSession(session);
        if (guild.kind !== 'unknown') return guild;
      }
      return { kind: 'unknown' };
    },
    /** A channel's threads, from anybody's state there; looks through all folders. */
    async threadsOf(channelId: string): Promise<readonly string[]> {
      const threads = new Set<string>();
      const pause = createTimeSlice();
      for (const session of await all()) {
        if ((await readState(store, session)).place?.parentId === channelId) threads.add(session.channelId);
        await pause();
      }
      return [...threads];
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
    async erase({ userId, sessions, isWhole }: Erasure): Promise<void> {
      if (isWhole) return;
      const gone = new Set(sessions.map(({ channelId }) => channelId));
      const left = (list: PersonSessions) => list.channels.filter((channelId) => !gone.has(channelId));
      await store.update(
        sessionsKey(userId),
        sessionsKind,
        (list) => list && { ...list, channels: left(list) },
        { erase: true },
      );
    },
  };
}

/** @throws {RangeError} when the id is not a Discord id [S6]. */
function sessionsKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/sessions.json`;
}
