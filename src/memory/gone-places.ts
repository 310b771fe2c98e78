import { z } from 'zod';

import { unconditional } from '../core/writes.ts';
import { limits } from '../core/limits.ts';
import type { ChannelGuild } from '../core/place.ts';
import { isSnowflake } from '../core/snowflake.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import type { MemoryLayer } from './layer.ts';
import { shortTermFolder } from './short-term/short-term.ts';
import type { Everybody, SweepPorts, SweepRow } from './sweeper.ts';

const dayMs = 24 * 60 * 60_000;

/** How long what belongs to a guild stays after the bot was removed from it [K15]. */
const keptGuildMs = 30 * dayMs;
/** How long what belongs to a deleted channel or thread stays on the disk; it is used no more at once. */
const keptChannelMs = 7 * dayMs;

const goneKey = 'gone-places.json';
/** By guild, or by channel or thread, since when it is gone; ISO 8601. */
const placesSchema = z.record(z.string(), z.object({ at: z.string() }));
type GonePlaces = Readonly<z.infer<typeof placesSchema>>;
const goneSchema = z.object({
  version: z.literal(1),
  guilds: placesSchema,
  /** An entry stays, so that nothing links there. */
  channels: placesSchema.default({}),
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

/** In which guilds the bot is. */
export interface PresentGuilds {
  readonly ids: () => readonly string[];
  /** Whether that can be told of a guild: those of another process's shards are that process's [X3]. */
  readonly areKnown: (guildId: string) => boolean;
  /** Looks for a channel at Discord; `deleted` is called where it is gone. */
  readonly findChannel?: (channelId: string) => Promise<unknown>;
}

/**
 * Knows which places are gone, and has what belongs to them erased [K15]. A guild's settings, outboxes and exchanges go
 * 30 days after the bot was removed from it. Conversations, notes and the outbox of a deleted channel or thread are
 * unused at once and go 7 days later. Items stay.
 */
export function createGonePlaces(
  options: SweepPorts & {
    /** The layers that hold conversations and what was made of them. */
    readonly layers: readonly Pick<MemoryLayer, 'delete'>[];
    readonly outbox: {
      /** A channel's guild, as far as its outbox tells. */
      guildOf(channelId: string): Promise<ChannelGuild>;
      /** Takes a channel's outbox out for good. */
      drop(channelId: string): Promise<void>;
    };
    readonly clock: Clock;
  },
) {
  const { store, writes, log, outbox, clock, logger } = options;
  let findAgainAt = 0;

  /** Resolves with what is gone then. */
  async function changeGone(change: (document: GoneDocument) => GoneDocument): Promise<GoneDocument> {
    return (await store.update(goneKey, goneKind, (document = noneGone) => change(document))) ?? noneGone;
  }

  /** Channels and threads that there are conversations or an outbox of. */
  async function heldChannels(): Promise<ReadonlySet<string>> {
    const [sessions, outboxes] = await Promise.all([log.channels(), store.folders('channels')]);
    return new Set([...sessions.map(({ id }) => id), ...outboxes.map(({ name }) => name)]);
  }

  /** The channels of each guild, as far as what is held of anybody there tells. */
  async function channelsByGuild(): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>();
    for (const id of [...(await heldChannels())].filter(isSnowflake)) {
      const known = await log.guildOf(id);
      const guild = known.kind === 'unknown' ? await outbox.guildOf(id) : known;
      if (guild.kind === 'guild') found.set(guild.guildId, [...(found.get(guild.guildId) ?? []), id]);
    }
    return found;
  }

  async function noteDeleted(channelIds: readonly string[], parentId?: string): Promise<void> {
    const all = new Set(channelIds);
    if (parentId !== undefined) for (const thread of await log.threadsOf(parentId)) all.add(thread);
    // What nothing is held of needs no mark: servers may delete channels all day.
    const held = await heldChannels();
    for (const id of all) if (!held.has(id) || (await log.guildOf(id)).kind === 'dm') all.delete(id);
    await changeGone((document) => ({ ...document, channels: withNew(document.channels, all) }));
  }

  /** The channels that are there; of those that were deleted unseen it is noted. Not more than once a day. */
  async function findChannels(
    channelIds: readonly string[],
    findChannel: PresentGuilds['findChannel'],
  ): Promise<readonly string[]> {
    if (clock().getTime() < findAgainAt) return [];
    findAgainAt = clock().getTime() + dayMs;
    const found: string[] = [];
    for (const id of channelIds) if ((await findChannel?.(id)) !== undefined) found.push(id);
    return found;
  }

  /** With those that are gone from now on, unless they were before. */
  function withNew(places: GonePlaces, ids: Iterable<string>): GonePlaces {
    const entry = { at: clock().toISOString() };
    const fresh = [...ids].filter((id) => places[id] === undefined);
    return { ...places, ...Object.fromEntries(fresh.map((id) => [id, entry])) };
  }

  const overIn = (places: GonePlaces, ms: number): readonly string[] =>
    Object.keys(places).filter((id) => clock().getTime() - Date.parse(places[id]?.at ?? '') >= ms);

  async function sweep(present: PresentGuilds, everybody: Everybody): Promise<void> {
    const { ids, areKnown, findChannel } = present;
    const isLeft = (guildId: string): boolean => areKnown(guildId) && !ids().includes(guildId);
    const byGuild = await channelsByGuild();
    const channelsOf = (guildIds: readonly string[]) => guildIds.flatMap((id) => byGuild.get(id) ?? []);
    // In a guild that the bot is not in, nothing can be asked; an outage proves nothing.
    const found = await findChannels(channelsOf(ids().filter(areKnown)), findChannel);
    const folders = (await store.folders('guilds')).map(({ name }) => name);
    const left = [...folders, ...byGuild.keys()].filter((id) => isSnowflake(id) && isLeft(id));
    const gone = await changeGone((document) => ({
      ...document,
      guilds: without(withNew(document.guilds, left), ids()),
      channels: without(document.channels, found),
    }));
    const elsewhere = channelsOf([...byGuild.keys()].filter((id) => !areKnown(id)));
    await sweepChannels(overIn(without(gone.channels, elsewhere), keptChannelMs), everybody);
    for (const id of overIn(gone.guilds, keptGuildMs))
      if (isLeft(id)) await sweepGuild(id, channelsOf([id]), everybody);
  }

  async function sweepChannels(channelIds: readonly string[], { sessions }: Everybody): Promise<void> {
    const isDone = await sessions(async (session) => {
      const { channelId, userId } = session;
      if (!channelIds.includes(channelId)) return;
      await writes.run(unconditional(userId), async () => {
        for (const layer of options.layers)
          await layer.delete({ kind: 'conversations', userId, sessions: [session] });
        await store.removeAll(`sessions/${channelId}/${userId}`);
      });
    });
    if (!isDone) return;
    const held = await heldChannels();
    for (const channelId of channelIds.filter((id) => held.has(id))) {
      await store.removeAll(`sessions/${channelId}`);
      await outbox.drop(channelId);
      logger.info('what belonged to a deleted channel has been erased', { channelId });
    }
    const tooMany = channelIds.slice(0, -limits.gonePlaces);
    await changeGone((document) => ({ ...document, channels: without(document.channels, tooMany) }));
  }

  async function sweepGuild(
    guildId: string,
    channelIds: readonly string[],
    { people }: Everybody,
  ): Promise<void> {
    const isDone = await people((userId) =>
      writes.run(unconditional(userId), () => store.remove(`${shortTermFolder(userId)}/${guildId}.json`)),
    );
    if (!isDone) return;
    for (const channelId of channelIds) await outbox.drop(channelId);
    await store.removeAll(`guilds/${guildId}`);
    await changeGone((document) => ({ ...document, guilds: without(document.guilds, [guildId]) }));
    const about = { guildId, channels: channelIds.length };
    logger.info('what belonged to a server that the bot was removed from has been erased', about);
  }

  return {
    /**
     * Channels or threads were deleted, with all threads below `parentId`; unknown ones are ignored. Below a thread
     * there are none to be looked for. Resolves when that is on disk; never rejects.
     */
    async deleted(channelIds: readonly string[], parentId?: string): Promise<void> {
      try {
        await noteDeleted(channelIds, parentId);
      } catch (error) {
        logger.error('that channels were deleted could not be noted', { channelIds, error });
      }
    },
    /** The sweeper's row. */
    sweep:
      (present: PresentGuilds): SweepRow =>
      (everybody) =>
        sweep(present, everybody),
  };
}

function without(places: GonePlaces, ids: readonly string[]): GonePlaces {
  return Object.fromEntries(Object.entries(places).filter(([id]) => !ids.includes(id)));
}
