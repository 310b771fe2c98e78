import { z } from 'zod';

import type { KeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import { isSnowflake } from '../core/snowflake.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import { createTimeSlice, type Clock, type Timer } from '../core/time.ts';
import type { SessionLog } from './log/session-log.ts';
import { shortTermFolder } from './short-term/exchanges.ts';

const dayMs = 24 * 60 * 60_000;

/** How long what belongs to a guild stays after the bot was removed from it [K15]. */
const keptDays = 30;

const leftKey = 'left-guilds.json';
const leftSchema = z.object({
  version: z.literal(1),
  /** By guild: since when the bot is not in it, ISO 8601; the channels that it knew of there; and whether what belonged to it is gone. */
  guilds: z.record(
    z.string(),
    z.object({
      at: z.string(),
      channelIds: z.array(z.string()).readonly(),
      isGone: z.literal(true).exactOptional(),
    }),
  ),
});
type LeftDocument = z.infer<typeof leftSchema>;
export const leftKind: DocumentKind<LeftDocument> = { version: 1, schema: leftSchema };
const noneLeft: LeftDocument = { version: 1, guilds: {} };

/** In which guilds the bot is. */
export interface PresentGuilds {
  readonly ids: () => readonly string[];
  /** Whether that can be told of a guild: those of another process's shards are that process's [X3]. */
  readonly areKnown: (guildId: string) => boolean;
}

export interface LeftGuildsOptions {
  readonly store: Store;
  /** The users' write queue [S3]. */
  readonly writes: Pick<KeyedQueue, 'run' | 'begin'>;
  readonly log: Pick<SessionLog, 'channels' | 'guildOf'>;
  /** Takes a channel's journal out for good. */
  readonly dropJournal: (channelId: string) => Promise<void>;
  /** A guild's files are gone, its channels' notes among them. */
  readonly forgetNotes: (guildId: string) => Promise<void>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

/**
 * What belongs to a guild goes 30 days after the bot was removed from it [K15]: settings, journals and exchanges. Items and conversations are their people's
 * own and stay, each for where it could be used. The moment of leaving is on disk before and after, so that the next start finishes what a kill comes between.
 */
export function createLeftGuilds(options: LeftGuildsOptions) {
  const { store, writes, log, dropJournal, clock, timer, logger } = options;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  function enqueue(work: () => Promise<void>): void {
    running = running.then(work).catch((error: unknown) => {
      logger.error('servers that the bot was removed from could not be looked at', { error });
    });
  }

  /** The channels of each guild, as far as what is held of anybody there tells. */
  async function channelsByGuild(): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, string[]>();
    const pause = createTimeSlice();
    for (const { id } of (await log.channels()).filter(({ id: each }) => isSnowflake(each))) {
      const guild = await log.guildOf(id);
      if (guild.kind === 'guild') {
        const ids = found.get(guild.guildId) ?? [];
        ids.push(id);
        found.set(guild.guildId, ids);
      }
      await pause();
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
      (await store.update(leftKey, leftKind, (document = noneLeft) => {
        const still = Object.entries(document.guilds).filter(([id]) => !present.has(id));
        const added = [...absent].filter((id) => !still.some(([each]) => each === id));
        if (added.length === 0 && still.length === Object.keys(document.guilds).length)
          return document === noneLeft ? undefined : document;
        const fresh = added.map((id) => [id, { at: now.toISOString(), channelIds: [] }] as const);
        return { version: 1 as const, guilds: Object.fromEntries([...still, ...fresh]) };
      })) ?? noneLeft;
    for (const [guildId, { at, channelIds, isGone }] of Object.entries(guilds)) {
      if (isStopped) return;
      if (!presentGuilds.areKnown(guildId)) continue;
      if (isGone === true || now.getTime() - Date.parse(at) < keptDays * dayMs) continue;
      // So may what was removed before.
      if (presentGuilds.ids().includes(guildId)) continue;
      await remove(guildId, new Set([...channelIds, ...(channels.get(guildId) ?? [])]));
    }
  }

  async function remove(guildId: string, channels: ReadonlySet<string>): Promise<void> {
    for (const channelId of channels) await dropJournal(channelId);
    for (const { name } of await store.folders('users')) {
      if (!isSnowflake(name)) continue;
      const key = `${shortTermFolder(name)}/${guildId}.json`;
      const files = await store.list(shortTermFolder(name));
      if (files.some(({ path }) => key.endsWith(`/${path}`)))
        await writes.begin(() => writes.run(name, () => store.remove(key)));
    }
    await store.removeAll(`guilds/${guildId}`);
    await options.forgetNotes(guildId);
    await store.update(
      leftKey,
      leftKind,
      (document = noneLeft) => {
        const { at = clock().toISOString() } = document.guilds[guildId] ?? {};
        const gone = { at, channelIds: [], isGone: true as const };
        return { version: 1 as const, guilds: { ...document.guilds, [guildId]: gone } };
      },
      { erase: true },
    );
    logger.info('what belonged to a server that the bot was removed from has been erased', {
      guildId,
      channels: channels.size,
    });
  }

  return {
    /** The bot was removed from a guild that had these channels. */
    left(guildId: string, channelIds: readonly string[]): void {
      enqueue(async () => {
        const entry = { at: clock().toISOString(), channelIds: [...channelIds] };
        await store.update(leftKey, leftKind, (document = noneLeft) => ({
          version: 1 as const,
          guilds: { ...document.guilds, [guildId]: entry },
        }));
        logger.info('the bot was removed from a server', { guildId, keptDays });
      });
    },
    /** Looks now and every day which guilds the bot is in: what is kept of others goes in time, and a return keeps it. Never throws. */
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
