import { z } from 'zod';

import { assertSnowflake, isSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind } from '../../core/store.ts';

/** What can be set, with the values it can have. */
export const settingChoices = {
  answer: ['mentions', 'everything'],
  memory: ['on', 'off'],
  actions: ['on', 'off'],
} as const;

export type SettingName = keyof typeof settingChoices;

export const settingNames = ['answer', 'memory', 'actions'] as const satisfies readonly SettingName[];

const valuesSchema = z.object({
  answer: z.enum(settingChoices.answer).optional(),
  memory: z.enum(settingChoices.memory).optional(),
  actions: z.enum(settingChoices.actions).optional(),
});

/** What was set for one guild, channel or thread; what is absent or `undefined` was not set there. */
export type SettingValues = z.infer<typeof valuesSchema>;

const documentSchema = z.object({
  version: z.literal(1),
  guild: valuesSchema.exactOptional(),
  /** By the id of a channel or thread. */
  channels: z.record(z.string().refine(isSnowflake, 'is no Discord id'), valuesSchema).exactOptional(),
});

/** A guild's settings as its file has them, `guilds/<guildId>/settings.json`; people may edit it by hand. */
export type SettingsDocument = z.infer<typeof documentSchema>;

export const settingsKind: DocumentKind<SettingsDocument> = { version: 1, schema: documentSchema };

/** @throws {RangeError} when the id is no Discord id [S6]. */
export function settingsKey(guildId: string): string {
  return `guilds/${assertSnowflake(guildId)}/settings.json`;
}
