import { z } from 'zod';

import { isSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';

const settingsKey = 'settings.json';

const idsSchema = z.array(z.string().refine(isSnowflake, 'is not a Discord id')).readonly().default([]);
const letInSchema = z.object({ userIds: idsSchema, roleIds: idsSchema });

export type LetIn = z.infer<typeof letInSchema>;

/** `waiting` until a message to an owner has arrived. */
const requestSchema = z.object({
  state: z.enum(['waiting', 'asked', 'refused']),
  day: z.string().optional(),
});
type AccessRequest = z.infer<typeof requestSchema>;

/** `settings.json`, which people may edit by hand. */
const documentSchema = z.object({
  version: z.literal(1),
  /** Who is let in everywhere, besides those in the configuration [G1]. */
  ...letInSchema.shape,
  /** By server to which an owner said yes: whom those who manage it let in there. */
  servers: z.record(z.string(), letInSchema).default({}),
  /** Who asked to be let in, by their id; an owner is asked on a day (`YYYY-MM-DD`, local). */
  requests: z.record(z.string(), requestSchema).default({}),
  /** The model that answers, as an owner chose it. */
  model: z.string().optional(),
});

/** What holds for the whole bot. */
export type BotSettingsDocument = Readonly<z.infer<typeof documentSchema>>;

export const botSettingsKind: DocumentKind<BotSettingsDocument> = { version: 1, schema: documentSchema };

const noSettings: BotSettingsDocument = { version: 1, userIds: [], roleIds: [], servers: {}, requests: {} };

export type BotSettings = ReturnType<typeof createBotSettings>;

/** Settings of the whole bot, made by its owners in chat. All reject with `StoreError`. */
export function createBotSettings(store: Pick<Store, 'read' | 'update'>) {
  const change = async (operation: (settings: BotSettingsDocument) => BotSettingsDocument): Promise<void> => {
    // A damaged file must not let in again who was removed.
    await store.update(settingsKey, botSettingsKind, (before = noSettings) => operation(before), {
      erase: true,
    });
  };
  return {
    /** As the disk has it now, also after a change by another process or by hand. */
    read: async (): Promise<BotSettingsDocument> =>
      (await store.read(settingsKey, botSettingsKind)) ?? noSettings,
    /** `operation` may run again, so it must be pure. */
    change,
    /** Takes back the yes to a server, and whom those who manage it let in. */
    forgetServer: (guildId: string): Promise<void> =>
      change((settings) => {
        const { [guildId]: _, ...servers } = settings.servers;
        return { ...settings, servers };
      }),
  };
}

/** Whether a command let somebody in: for a server, or everywhere. */
export function isAdded(
  settings: BotSettingsDocument,
  guildId: string | undefined,
  list: keyof LetIn,
  id: string,
): boolean {
  return (guildId === undefined ? settings : settings.servers[guildId])?.[list].includes(id) === true;
}

/** Changes who is let in everywhere, or in a server to which an owner said yes. */
export function withAccess(
  settings: BotSettingsDocument,
  guildId: string | undefined,
  list: keyof LetIn,
  change: (ids: readonly string[]) => readonly string[],
): BotSettingsDocument {
  if (guildId === undefined) return { ...settings, [list]: change(settings[list]) };
  const here = settings.servers[guildId];
  if (here === undefined) return settings;
  return {
    ...settings,
    servers: { ...settings.servers, [guildId]: { ...here, [list]: change(here[list]) } },
  };
}

/** `undefined` takes the request out. */
export function withRequest(
  settings: BotSettingsDocument,
  userId: string,
  request: AccessRequest | undefined,
): BotSettingsDocument {
  const { [userId]: _, ...others } = settings.requests;
  return { ...settings, requests: request === undefined ? others : { ...others, [userId]: request } };
}
