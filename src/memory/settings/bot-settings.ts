import { z } from 'zod';

import { limits } from '../../core/limits.ts';
import type { DocumentKind, Store } from '../../core/store.ts';

const settingsKey = 'settings.json';

/** People as `<@id>` and roles as `<@&id>`, as Discord writes them. */
const mentionSchema = z.string().regex(/^<@&?\d{15,20}>$/u);

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
  letIn: z.array(mentionSchema).readonly().default([]),
  /** By person, who asked to be let in. */
  requests: z.record(mentionSchema, requestSchema).default({}),
  /** The model that answers, as an owner chose it. */
  model: z.string().optional(),
});

/** What holds for the whole bot. */
export type BotSettingsDocument = Readonly<z.infer<typeof documentSchema>>;

export const botSettingsKind: DocumentKind<BotSettingsDocument> = { version: 1, schema: documentSchema };

const noSettings: BotSettingsDocument = { version: 1, letIn: [], requests: {} };

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
  };
}

/** `undefined` takes the request out. */
export function withRequest(
  settings: BotSettingsDocument,
  person: string,
  request: AccessRequest | undefined,
): BotSettingsDocument {
  const { [person]: _, ...others } = settings.requests;
  const newest = Object.entries(others).slice(1 - limits.accessRequests);
  const requests = Object.fromEntries(request === undefined ? newest : [...newest, [person, request]]);
  return { ...settings, requests };
}

/** Mentions of people who asked, and are not let in everywhere since. */
export function askers(
  { requests, letIn }: BotSettingsDocument,
  state: AccessRequest['state'],
): readonly string[] {
  return Object.keys(requests).filter((each) => requests[each]?.state === state && !letIn.includes(each));
}
