import { z } from 'zod';

import { unconditional, type Writes } from '../core/writes.ts';
import type { Logger } from '../core/logger.ts';
import { limits } from '../core/limits.ts';
import { isSnowflake } from '../core/snowflake.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';
import type { MemoryLayer } from './layer.ts';
import type { SessionLog } from './log/session-log.ts';
import { shortTermFolder } from './short-term/short-term.ts';

const dayMs = 24 * 60 * 60_000;

/** How long what belongs to a guild stays after the bot was removed from it [K15]. */
const keptDays = 30;
/** How long what belongs to a deleted channel or thread stays on the disk; it is used no more at once. */
const keptChannelDays = 7;

const goneKey = 'gone-places.json';
/** Since when a place is gone, ISO 8601, and whether what belonged to it is gone too. */
const goneFields = { at: z.string(), isGone: z.literal(true).optional() };
const goneSchema = z.object({
  version: z.literal(1),
  /** By guild; with the channels that the bot knew of there. */
  guilds: z.record(z.string(), z.object({ ...goneFields, channelIds: z.array(z.string()).readonly() })),
  /** By channel or thread. An entry stays, so that nothing links there. */
  channels: z.record(z.string(), z.object(goneFields)).default({}),
});
type GoneDocument = z.infer<typeof goneSchema>;
export const goneKind: DocumentKind<GoneDocument> = { version: 1, schema: goneSchema };
const noneGone: GoneDocument = { version: 1, guilds: {}, channels: {} };

/** The deleted channels and threads. Rejects with `StoreError`. */
export async function goneChannels(store: Pick<Store, 'read'>): Promise<ReadonlySet<string>> {
  return new Set(Object.keys((await readGone(store)).channels));
}

async function readGone(store: Pick<Store, 'read'>): Promise<GoneDocument> {
  return (await store.read(goneKey, goneKind)) ?? noneGone;
}

/** Without the oldest of too many of which all is erased [L3]. */
function newestGone<Entry extends z.infer<z.ZodObject<typeof goneFields>>>(
  places: Readonly<Record<string, Entry>>,
) {
  const all = Object.entries(places);
  const gone = all.filter(([, { isGone }]) => isGone === true);
  const old = new Set(gone.slice(0, -limits.gonePlaces));
  return Object.fromEntries(all.filter((each) => !old.has(each)));
}

/** In which guilds the bot is. */
export interface PresentGuilds {
  readonly ids: () => readonly string[];
  /** Whether that can be told of a guild: those of another process's shards are that process's [X3]. */
  readonly areKnown: (guildId: string) => boolean;
  /** Looks for a channel at Discord; `deleted` is called where it is gone. */
  readonly findChannel?: (channelId: string) => Promise<unknown>;
}

/**
 * Removes what belongs to places that are gone [K15]. A guild's settings, outboxes and exchanges go 30 days after
 * the bot was removed from it. Conversations, notes and the outbox of a deleted channel or thread are unused at
 * once and go 7 days later. Items stay. The time of each step is on disk, so that the next start finishes what a
 * kill interrupts.
 */
export function createGonePlaces(options: {
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: Pick<Writes, 'run'>;
  readonly log: Pick<SessionLog, 'channels' | 'guildOf' | 'everyInChannel' | 'threadsOf'>;
  /** The layers that hold conversations and what was made of them. */
  readonly layers: readonly Pick<MemoryLayer, 'delete'>[];
  /** Takes a channel's outbox out for good. */
  readonly dropOutbox: (channelId: string) => Promise<void>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}) {
  const { store, writes, log, dropOutbox, clock, timer, logger } = options;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  function enqueue(work: () => Promise<void>): void {
    running = running.then(work).catch((error: unknown) => {
      logger.error('deleted places could not be checked', { error });
    });
  }

  function noteGuild(guildId: string, entry: GoneDocument['guilds'][string]): Promise<unknown> {
    const noted = (document = noneGone): GoneDocument => ({
      ...document,
      guilds: newestGone({ ...document.guilds, [guildId]: entry }),
    });
    return store.update(goneKey, goneKind, noted, { erase: true });
  }

  /** Channels and threads that there are conversations or an outbox of. */
  async function heldChannels(): Promise<ReadonlySet<string>> {
    const [sessions, outboxes] = await Promise.all([log.channels(), store.folders('channels')]);
    return new Set([...sessions.map(({ id }) => id), ...outboxes.map(({ name }) => name)]);
  }

  /** The channels of each guild, as far as what is held of anybody there tells. */
  async function channelsByGuild(): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>();
    for (const { id } of (await log.channels()).filter(({ id: each }) => isSnowflake(each))) {
      const guild = await log.guildOf(id);
      if (guild.kind === 'guild') found.set(guild.guildId, [...(found.get(guild.guildId) ?? []), id]);
    }
    return found;
  }

  async function look(presentGuilds: PresentGuilds): Promise<void> {
    const channels = await channelsByGuild();
    const folders = (await store.folders('guilds')).map(({ name }) => name);
    // That may have taken long, and the bot been let in again meanwhile.
    const present = new Set(presentGuilds.ids());
    const known = [...folders, ...channels.keys()].filter(isSnowflake);
    const absent = new Set(known.filter((id) => presentGuilds.areKnown(id) && !present.has(id)));
    const now = clock();
    const { guilds } =
      (await store.update(goneKey, goneKind, (document = noneGone) => {
        const still = Object.entries(document.guilds).filter(([id]) => !present.has(id));
        const added = [...absent].filter((id) => document.guilds[id] === undefined);
        const fresh = added.map((id) => [id, { at: now.toISOString(), channelIds: [] }] as const);
        return { ...document, guilds: Object.fromEntries([...still, ...fresh]) };
      })) ?? noneGone;
    await lookAtChannels(presentGuilds, channels);
    for (const [guildId, { at, channelIds, isGone }] of Object.entries(guilds)) {
      if (isStopped) return;
      if (!presentGuilds.areKnown(guildId)) continue;
      if (isGone === true || now.getTime() - Date.parse(at) < keptDays * dayMs) continue;
      // So may what was removed before.
      if (presentGuilds.ids().includes(guildId)) continue;
      await remove(guildId, at, new Set([...channelIds, ...(channels.get(guildId) ?? [])]));
    }
  }

  async function lookAtChannels(
    { areKnown, ids, findChannel }: PresentGuilds,
    byGuild: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    for (const [guildId, channelIds] of byGuild) {
      // In a guild that the bot is not in, nothing can be asked; an outage proves nothing.
      if (!areKnown(guildId) || !ids().includes(guildId)) continue;
      for (const channelId of channelIds) {
        if (isStopped) return;
        // What is deleted stays so: an id is never given again.
        if ((await readGone(store)).channels[channelId] === undefined) await findChannel?.(channelId);
      }
    }
    for (const [channelId, { at, isGone }] of Object.entries((await readGone(store)).channels)) {
      if (isStopped) return;
      const guild = await log.guildOf(channelId);
      const isElsewhere = guild.kind === 'guild' && !areKnown(guild.guildId);
      if (isGone === true || isElsewhere || clock().getTime() - Date.parse(at) < keptChannelDays * dayMs)
        continue;
      await removeChannel(channelId, at);
    }
  }

  async function removeChannel(channelId: string, at: string): Promise<void> {
    for (const session of await log.everyInChannel(channelId))
      await writes.run(unconditional(session.userId), async () => {
        const gone = { kind: 'conversations', userId: session.userId, sessions: [session] } as const;
        for (const layer of options.layers) await layer.delete(gone);
        await store.removeAll(`sessions/${channelId}/${session.userId}`);
      });
    await store.removeAll(`sessions/${channelId}`);
    await dropOutbox(channelId);
    await store.update(goneKey, goneKind, (document = noneGone) => ({
      ...document,
      channels: newestGone({ ...document.channels, [channelId]: { at, isGone: true as const } }),
    }));
    logger.info('what belonged to a deleted channel has been erased', { channelId });
  }

  async function remove(guildId: string, at: string, channels: ReadonlySet<string>): Promise<void> {
    for (const channelId of channels) await dropOutbox(channelId);
    for (const { name } of await store.folders('users')) {
      if (!isSnowflake(name)) continue;
      const key = `${shortTermFolder(name)}/${guildId}.json`;
      await writes.run(unconditional(name), () => store.remove(key));
    }
    await store.removeAll(`guilds/${guildId}`);
    await noteGuild(guildId, { at, channelIds: [], isGone: true });
    logger.info('what belonged to a server that the bot was removed from has been erased', {
      guildId,
      channels: channels.size,
    });
  }

  return {
    /** The bot was removed from a guild that had these channels. */
    left(guildId: string, channelIds: readonly string[]): void {
      enqueue(async () => {
        await noteGuild(guildId, { at: clock().toISOString(), channelIds });
        logger.info('the bot was removed from a server', { guildId, keptDays });
      });
    },
    /**
     * Channels or threads were deleted, with all threads below `parentId`; unknown ones are ignored. Below a thread
     * there are none to be looked for. Resolves when that is on disk; never rejects.
     */
    async deleted(channelIds: readonly string[], parentId?: string): Promise<void> {
      enqueue(async () => {
        const all = new Set(channelIds);
        if (parentId !== undefined) for (const thread of await log.threadsOf(parentId)) all.add(thread);
        // What nothing is held of needs no mark: servers may delete channels all day.
        const held = await heldChannels();
        for (const id of all) if (!held.has(id) || (await log.guildOf(id)).kind === 'dm') all.delete(id);
        const at = clock().toISOString();
        await store.update(goneKey, goneKind, (document = noneGone) => {
          const fresh = [...all].filter((id) => document.channels[id] === undefined);
          if (fresh.length === 0) return document === noneGone ? undefined : document;
          const added = Object.fromEntries(fresh.map((id) => [id, { at }]));
          return { ...document, channels: { ...document.channels, ...added } };
        });
      });
      await running;
    },
    /** Looks now and every day. Never throws. */
    start(presentGuilds: PresentGuilds): void {
      if (isStopped) return;
      enqueue(() => look(presentGuilds));
      cancel = timer(() => this.start(presentGuilds), dayMs);
    },
    stop(): void {
      isStopped = true;
      cancel?.();
    },
    /** Resolves when nothing of it runs. */
    idle: (): Promise<void> => running,
  };
}
