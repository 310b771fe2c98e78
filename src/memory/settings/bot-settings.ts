import { z } from 'zod';

import { isSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';

const settingsKey = 'settings.json';

const idsSchema = z.array(z.string().refine(isSnowflake, 'is not a Discord id')).readonly().default([]);
const letInSchema = z.object({ userIds: idsSchema, roleIds: idsSchema });

/** `settings.json`, which people may edit by hand. */
const documentSchema = z.object({
  version: z.literal(1),
  /** Who is let in everywhere, besides those in the configuration [G1]. */
  ...letInSchema.shape,
  /** By server to which an owner said yes: whom those who manage it let in there. */
  servers: z.record(z.string(), letInSchema).default({}),
  /** The model that answers, as an owner chose it. */
  model: z.string().optional(),
});

/** What holds for the whole bot. */
export type BotSettingsDocument = Readonly<z.infer<typeof documentSchema>>;

export const botSettingsKind: DocumentKind<BotSettingsDocument> = { version: 1, schema: documentSchema };

const noSettings: BotSettingsDocument = { version: 1, userIds: [], roleIds: [], servers: {} };

/** Settings of the whole bot, made by its owners in chat. Both reject with `StoreError`. */
export function createBotSettings(store: Pick<Store, 'read' | 'update'>) {
  return {
    /** As the disk has it now, also after a change by another process or by hand. */
    read: async (): Promise<BotSettingsDocument> =>
      (await store.read(settingsKey, botSettingsKind)) ?? noSettings,
    /** `operation` may run again, so it must be pure. */
    change: async (operation: (settings: BotSettingsDocument) => BotSettingsDocument): Promise<void> => {
      // A damaged file must not let in again who was removed.
      await store.update(settingsKey, botSettingsKind, (before = noSettings) => operation(before), {
        erase: true,
      });
    },
  };
}
