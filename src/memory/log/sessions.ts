import { z } from 'zod';

import { growingCache } from '../../core/limits.ts';
import { guildOfPlace, sessionName, type ChannelGuild, type SessionKey } from '../../core/place.ts';
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

/** Sessions of which it is remembered that their person's list has them. */
const rememberedSessions = 10_000;
/** Channels of which it is remembered in which guild they are. */
const rememberedChannels = 100_000;

export type Sessions = ReturnType<typeof createSessions>;

/**
 * Which sessions there are. A person's stand in `users/<userId>/sessions.json`, so that nobody else's are looked at. The list is made when they are first
 * asked for, from all folders, and a session is in it before its log begins: it may name one that is gone, and lacks none but what a person put there
 * by hand. Without it the folders are looked through again. In a shared store everybody who has sessions has a list, which was made with the first or when the store was
 * filled, and it is looked at each time: another process may have erased it. Rejects with `StoreError`.
 */
export function createSessions(store: Store) {
  const listed = growingCache<string, true>(rememberedSessions);
  /** By person, the channels that were found in the folders, or in which something was written since the start. */
  const found = new Map<string, Set<string>>();
  let looking: Promise<void> | undefined;
  /** By channel its guild, which never changes. */
  const guilds = growingCache<string, ChannelGuild>(rememberedChannels);

  function note({ channelId, userId }: SessionKey): void {
    found.set(userId, (found.get(userId) ?? new Set()).add(channelId));
  }

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

  async function lookThrough(): Promise<void> {
    try {
      for (const session of await all()) note(session);
    } catch (error) {
      looking = undefined;
      throw error;
    }
  }

  /** All sessions of a person, and perhaps some that are gone. */
  async function ofPerson(userId: string): Promise<readonly SessionKey[]> {
    let list = await store.read(sessionsKey(userId), sessionsKind);
    if (list === undefined && !store.isShared) {
      await (looking ??= lookThrough());
      const channels = () => [...(found.get(userId) ?? [])].toSorted();
      const made = (): PersonSessions => ({ version: 1, channels: channels() });
      list = await store
        .update(
          sessionsKey(userId),
          sessionsKind,
          (current) => current ?? (found.has(userId) ? made() : undefined),
        )
        .catch(made);
    }
    return (list?.channels ?? []).map((channelId) => ({ channelId, userId }));
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
    /** To be called before anything is written to a session's log. */
    async begin(session: SessionKey): Promise<void> {
      const { channelId, userId } = session;
      if (store.isShared) {
        const list = await store.read(sessionsKey(userId), sessionsKind);
        if (list?.channels.includes(channelId) === true) return;
      } else {
        if (listed.has(sessionName(session))) return;
        // First here: a list that is made meanwhile has it too.
        note(session);
      }
      const none: PersonSessions | undefined = store.isShared ? { version: 1, channels: [] } : undefined;
      await store.update(sessionsKey(userId), sessionsKind, (current) => {
        const list = current ?? none;
        return list === undefined || list.channels.includes(channelId)
          ? current
          : { ...list, channels: [...list.channels, channelId].toSorted() };
      });
      if (!store.isShared) listed.set(sessionName(session), true);
    },
    /** All sessions of a person of which anything is on disk, whatever the list says, where that can be found out. */
    everyOfPerson: async (userId: string): Promise<readonly SessionKey[]> =>
      store.isShared ? ofPerson(userId) : (await all()).filter((session) => session.userId === userId),
    ofPerson,
    /** The servers of a person's sessions, as far as their state tells. Each channel's is read once. */
    async guildsOf(userId: string): Promise<readonly string[]> {
      const channels = await Promise.all((await ofPerson(userId)).map(guildOfSession));
      return [...new Set(channels.flatMap((guild) => (guild.kind === 'guild' ? guild.guildId : [])))];
    },
    /** The guild of a channel, as far as what is held of anybody there tells. Read once for each. */
    async guildOf(channelId: string): Promise<ChannelGuild> {
      const known = guilds.get(channelId);
      if (known !== undefined) return known;
      for (const session of await inChannel(channelId)) {
        const guild = await guildOfSession(session);
        if (guild.kind !== 'unknown') return guild;
      }
      return { kind: 'unknown' };
    },
    /** The threads of a channel, as far as what is held of anybody there tells; looks through all folders. */
    async threadsOf(channelId: string): Promise<readonly string[]> {
      const threads = new Set<string>();
      const pause = createTimeSlice();
      for (const session of await all()) {
        if ((await readState(store, session)).place?.parentId === channelId) threads.add(session.channelId);
        await pause();
      }
      return [...threads];
    },
    /** Those of a channel that have a log, the one that was written to last first. */
    inChannel: (channelId: string) => inChannel(channelId, logFile),
    /** Those of them whose log was changed at a time or later, in milliseconds since the epoch. */
    async changedSince(channelId: string, time: number): Promise<readonly SessionKey[]> {
      const changed = (await foldersIn(channelId, logFile)).filter(({ changedAt }) => changedAt >= time);
      return changed.map(({ name }) => ({ channelId, userId: name }));
    },
    /** All of which anything is on disk, notes and summaries included; looks through all folders. */
    all,
    /**
     * Forgets which sessions a person has, or that they have some; what is there still is found again, where folders are looked through. Elsewhere the whole list goes
     * with the person's folder, after all that it names.
     */
    async erase({ userId, sessions, isWhole }: Erasure): Promise<void> {
      if (store.isShared) {
        if (isWhole) return;
        const gone = new Set(sessions.map(({ channelId }) => channelId));
        const left = (list: PersonSessions) => list.channels.filter((channelId) => !gone.has(channelId));
        await store.update(
          sessionsKey(userId),
          sessionsKind,
          (list) => list && { ...list, channels: left(list) },
        );
        return;
      }
      await store.remove(sessionsKey(userId));
      for (const channelId of found.get(userId) ?? []) listed.delete(sessionName({ channelId, userId }));
      found.delete(userId);
      looking = undefined;
    },
  };
}

/** @throws {RangeError} when the id is no Discord id [S6]. */
export function sessionsKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/sessions.json`;
}
