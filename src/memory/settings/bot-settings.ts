import { z } from 'zod';

import type { DocumentKind, Store } from '../../core/store.ts';

const settingsKey = 'settings.json';

/** People as `<@id>` and roles as `<@&id>`, as Discord writes them. */
const mentionSchema = z.string().regex(/^<@&?\d{15,20}>$/u);
const mentionsSchema = z.array(mentionSchema).readonly();

/** An owner was asked on a day, `YYYY-MM-DD`, local; `waiting` until the message to them arrived. */
const requestSchema = z.object({
  state: z.enum(['waiting', 'asked', 'refused']),
  day: z.string().optional(),
});
type AccessRequest = z.infer<typeof requestSchema>;

/** `settings.json`, which people may edit by hand. */
const documentSchema = z.object({
  version: z.literal(1),
  /** Who is let in everywhere, besides those in the configuration [G1]. */
  letIn: mentionsSchema.default([]),
  /** By server to which an owner said yes: whom those who manage it let in there. */
  servers: z.record(z.string(), mentionsSchema).default({}),
  /** By person, who asked to be let in. */
  requests: z.record(mentionSchema, requestSchema).default({}),
  /** The model that answers, as an owner chose it. */
  model: z.string().optional(),
});

/** What holds for the whole bot. */
export type BotSettingsDocument = Readonly<z.infer<typeof documentSchema>>;

export const botSettingsKind: DocumentKind<BotSettingsDocument> = { version: 1, schema: documentSchema };

const noSettings: BotSettingsDocument = { version: 1, letIn: [], servers: {}, requests: {} };

export type BotSettings = ReturnType<typeof createBotSettings>;

/** Settings of the whole bot, made by its owners in chat. All reject with `StoreError`. */
export function createBotSettings(store: Pick<Store, 'read' | 'update'>) {
  async function change(operation: (settings: BotSettingsDocument) => BotSettingsDocument): Promise<void> {
    const changed = (before = noSettings) => operation(before);
    // A damaged file must not let in again who was removed.
    await store.update(settingsKey, botSettingsKind, changed, { erase: true });
  }
  return {
    /** As the disk has it now, also after a change by another process or by hand. */
    read: async (): Promise<BotSettingsDocument> =>
      (await store.read(settingsKey, botSettingsKind)) ?? noSettings,
    /** `operation` may run again, so it must be pure. */
    change,
    /** Takes back an owner's yes to a server, and whom those who manage it let in. */
    forgetServer: (guildId: string): Promise<void> =>
      change((before) => {
        const { [guildId]: _, ...servers } = before.servers;
        return { ...before, servers };
      }),
  };
}

/** Whom commands let in everywhere, or in a server. */
export function letInOf(
  { letIn, servers }: BotSettingsDocument,
  guildId: string | undefined,
): readonly string[] {
  return guildId === undefined ? letIn : (servers[guildId] ?? []);
}

/** Changes nothing for a server without an owner's yes, which may just have been taken back. */
export function withLetIn(
  settings: BotSettingsDocument,
  guildId: string | undefined,
  letIn: readonly string[],
): BotSettingsDocument {
  if (guildId === undefined) return { ...settings, letIn };
  if (settings.servers[guildId] === undefined) return settings;
  return { ...settings, servers: { ...settings.servers, [guildId]: letIn } };
}

/** `undefined` takes the request out. */
export function withRequest(
  settings: BotSettingsDocument,
  person: string,
  request: AccessRequest | undefined,
): BotSettingsDocument {
  const { [person]: _, ...others } = settings.requests;
  return { ...settings, requests: request === undefined ? others : { ...others, [person]: request } };
}

/** Mentions of people who asked, and are not let in everywhere since. */
export function askers(
  { requests, letIn }: BotSettingsDocument,
  state: AccessRequest['state'],
): readonly string[] {
  return Object.keys(requests).filter((each) => requests[each]?.state === state && !letIn.includes(each));
}
