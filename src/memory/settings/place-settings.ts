import { z } from 'zod';

import type { AnswerMode } from '../../core/channels.ts';
import { lruCache } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Place } from '../../core/place.ts';
import { dataLine, type SectionSource } from '../../core/section.ts';
import { assertSnowflake, idSchema } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';
import { clip } from '../../core/text.ts';
import type { TurnContext } from '../../core/turn-context.ts';

export const settingChoices = {
  answer: ['mentions', 'conversation', 'everything'],
  memory: ['on', 'off'],
  actions: ['on', 'off'],
} as const;

export type SettingName = keyof typeof settingChoices;

const valuesSchema = z.object({
  answer: z.enum(settingChoices.answer).optional(),
  memory: z.enum(settingChoices.memory).optional(),
  actions: z.enum(settingChoices.actions).optional(),
});

/** For one guild, channel or thread; absent or `undefined` where not set there. */
export type SettingValues = z.infer<typeof valuesSchema>;

/** `guilds/<guildId>/settings.json`, which people may edit by hand. */
const documentSchema = z.object({
  version: z.literal(1),
  guild: valuesSchema.exactOptional(),
  /** The role that lets people into the guild: what it can read, everybody there can [V0]. */
  memberRole: idSchema.optional(),
  /** How its managers want the bot to speak there [G8]. */
  persona: z.string().optional(),
  /** By the id of a channel or thread. */
  channels: z.record(idSchema, valuesSchema).exactOptional(),
});

type SettingsDocument = z.infer<typeof documentSchema>;

export const settingsKind: DocumentKind<SettingsDocument> = { version: 1, schema: documentSchema };

/** @throws {RangeError} when the id is not a Discord id [S6]. */
export function settingsKey(guildId: string): string {
  return `guilds/${assertSnowflake(guildId)}/settings.json`;
}

type SettingsPlace = Pick<Place, 'guildId' | 'channelId' | 'parentId' | 'parentName' | 'categoryId'>;

/** Where a value was set: the channel or thread itself, the thread's parent, the guild, or the configuration. */
export type SettingLevel = 'place' | 'parent' | 'guild' | 'configuration';

export interface HoldingSetting<Value> {
  readonly value: Value;
  readonly level: SettingLevel;
}

/** What holds in a place; `undefined` was set nowhere. */
type HoldingSettings = {
  readonly [Name in SettingName]: HoldingSetting<NonNullable<SettingValues[Name]>> | undefined;
};

/** More than one connection to Discord may have. */
const keptGuilds = 5000;
/** How long the settings read last count: nobody edits the file faster. */
const momentMs = 100;

export type PlaceSettings = ReturnType<typeof createPlaceSettings>;

/** Settings of guilds, channels and threads; DMs have none. Edits by hand count from the next message on [S5]. */
export function createPlaceSettings({
  store,
  noMemoryIds = [],
  logger,
}: {
  readonly store: Store;
  /** Channels, categories and forums where memory is off, whatever is set [K15]. */
  readonly noMemoryIds?: readonly string[];
  readonly logger: Logger;
}) {
  /** By guild, as read a moment ago; `undefined` where nothing was set. */
  const known = lruCache<string, { readonly document: SettingsDocument | undefined }>(keptGuilds, {
    maxAge: momentMs,
  });

  /** Rejects with `StoreError`. */
  async function read(guildId: string): Promise<SettingsDocument | undefined> {
    const document = await store.read(settingsKey(guildId), settingsKind);
    known.set(guildId, { document });
    return document;
  }

  async function change(
    guildId: string,
    operation: (document: SettingsDocument) => SettingsDocument,
  ): Promise<void> {
    const changed = (before: SettingsDocument = { version: 1 }) => operation(before);
    // A damaged file must not bring back what a setting switched off.
    const document = await store.update(settingsKey(guildId), settingsKind, changed, { erase: true });
    known.set(guildId, { document });
  }

  /** Rejects with `StoreError`. */
  async function holding(place: SettingsPlace): Promise<HoldingSettings> {
    const { guildId } = place;
    const nearest = nearestSettings(guildId === undefined ? undefined : await read(guildId), place);
    return isWithoutMemory(place, noMemoryIds)
      ? { ...nearest, memory: { value: 'off', level: 'configuration' } }
      : nearest;
  }

  /** `undefined` where it cannot be read. */
  async function tried<Value>(
    guildId: string | undefined,
    reading: Promise<Value>,
  ): Promise<Value | undefined> {
    try {
      return await reading;
    } catch (error) {
      logger.error('settings could not be read', { guildId, error });
      return undefined;
    }
  }

  const holdingOrUnknown = (place: SettingsPlace) => tried(place.guildId, holding(place));

  async function isOff(place: SettingsPlace, name: 'memory' | 'actions'): Promise<boolean> {
    const settings = await holdingOrUnknown(place);
    return settings === undefined || settings[name]?.value === 'off';
  }

  return {
    holding,
    /**
     * For the place itself, or its whole guild; `undefined` takes a value back. Rejects with `StoreError`; in a
     * DM with `RangeError`.
     */
    async set(
      { guildId, channelId }: SettingsPlace,
      scope: 'place' | 'guild',
      values: SettingValues,
    ): Promise<void> {
      const target = scope === 'guild' ? undefined : assertSnowflake(channelId);
      await change(guildId ?? '', (document) => withSettings(document, target, values));
    },
    /** `undefined` takes it back. Rejects with `StoreError`; with `RangeError` for anything but ids. */
    async setMemberRole(guildId: string, roleId: string | undefined): Promise<void> {
      const memberRole = roleId === undefined ? undefined : assertSnowflake(roleId);
      await change(guildId, (document) => ({ ...document, memberRole }));
    },
    /** Never rejects: where unknown, there is none, so that nothing becomes public by it [V0]. */
    memberRole: async (guildId: string): Promise<string | undefined> =>
      (await tried(guildId, read(guildId)))?.memberRole,
    /** How the bot is to speak in a guild [G8]; `undefined` takes it back. Rejects with `StoreError`. */
    async setPersona(guildId: string, persona: string | undefined): Promise<void> {
      await change(guildId, (document) => ({ ...document, persona }));
    },
    /** Never rejects: where unknown, there is none. */
    persona: async (guildId: string): Promise<string | undefined> =>
      (await tried(guildId, read(guildId)))?.persona,
    /** Never rejects: where unknown, it is off. */
    isMemoryOff: (place: SettingsPlace) => isOff(place, 'memory'),
    /** Never rejects: where unknown, they are. */
    areActionsOff: (place: SettingsPlace) => isOff(place, 'actions'),
    /** When the bot answers in a place, where that was set. Never rejects. */
    answerMode: async (place: SettingsPlace): Promise<AnswerMode | undefined> =>
      (await holdingOrUnknown(place))?.answer?.value,
    /** By what was read last, for the many messages that are not for the bot; `unknown` after a moment. */
    recentAnswerMode(place: SettingsPlace): AnswerMode | 'unknown' | undefined {
      if (place.guildId === undefined) return undefined;
      const last = known.get(place.guildId);
      return last === undefined ? 'unknown' : nearestSettings(last.document, place).answer?.value;
    },
  };
}

/** Characters of a persona at most [G8]. */
export const personaMaxChars = 1000;

const personaFrame = {
  name: 'server_manner',
  slot: 'slow',
  title: 'How you speak in this server (quoted data, written by those who manage it):',
  budget: personaMaxChars + 200,
  // Not the speaker's own words, so that what it asks for needs a button [M5a][M8].
  hasThirdPartyText: true,
} as const;

export function personaSource(
  settings: Pick<PlaceSettings, 'persona'>,
): SectionSource<Pick<TurnContext, 'place'>> {
  return {
    name: 'persona',
    async sections({ place: { guildId } }) {
      const persona = guildId === undefined ? undefined : await settings.persona(guildId);
      return persona === undefined
        ? []
        : [{ ...personaFrame, lines: [clip(dataLine(persona), personaMaxChars)] }];
    },
  };
}

/** Whether the configuration has memory off in a place. A thread of an unknown parent may be in any category. */
function isWithoutMemory(
  { channelId, parentId, parentName, categoryId }: SettingsPlace,
  noMemoryIds: readonly string[],
): boolean {
  if (parentId !== undefined && parentName === undefined && noMemoryIds.length > 0) return true;
  return [channelId, parentId, categoryId].some((id) => id !== undefined && noMemoryIds.includes(id));
}

/** What was set nearest to the place wins. */
function nearestSettings(
  document: SettingsDocument | undefined,
  { channelId, parentId }: SettingsPlace,
): HoldingSettings {
  const channels = document?.channels ?? {};
  const levels: readonly (readonly [SettingLevel, SettingValues | undefined])[] = [
    ['place', channels[channelId]],
    ['parent', parentId === undefined ? undefined : channels[parentId]],
    ['guild', document?.guild],
  ];
  function nearest<Value>(
    pick: (values: SettingValues) => Value | undefined,
  ): HoldingSetting<Value> | undefined {
    for (const [level, values] of levels) {
      const value = values === undefined ? undefined : pick(values);
      if (value !== undefined) return { value, level };
    }
    return undefined;
  }
  return {
    answer: nearest(({ answer }) => answer),
    memory: nearest(({ memory }) => memory),
    actions: nearest(({ actions }) => actions),
  };
}

function withSettings(
  known: SettingsDocument,
  channelId: string | undefined,
  values: SettingValues,
): SettingsDocument {
  if (channelId === undefined) return { ...known, guild: { ...known.guild, ...values } };
  const before = new Map(Object.entries(known.channels ?? {})).get(channelId);
  return { ...known, channels: { ...known.channels, [channelId]: { ...before, ...values } } };
}
