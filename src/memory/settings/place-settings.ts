import { z } from 'zod';

import type { AnswerMode } from '../../core/chat.ts';
import { createKeyedQueue } from '../../core/keyed-queue.ts';
import { growingCache, oncePer } from '../../core/limits.ts';
import type { Logger } from '../../core/logger.ts';
import type { Place } from '../../core/place.ts';
import { assertSnowflake, isSnowflake } from '../../core/snowflake.ts';
import type { DocumentKind, Store } from '../../core/store.ts';

/** What can be set, with the values it can have. */
export const settingChoices = {
  answer: ['mentions', 'everything'],
  memory: ['on', 'off'],
  actions: ['on', 'off'],
  'channel-memory': ['on', 'off'],
} as const;

export type SettingName = keyof typeof settingChoices;

export const settingNames = [
  'answer',
  'memory',
  'actions',
  'channel-memory',
] as const satisfies readonly SettingName[];

const valuesSchema = z.object({
  answer: z.enum(settingChoices.answer).optional(),
  memory: z.enum(settingChoices.memory).optional(),
  actions: z.enum(settingChoices.actions).optional(),
  'channel-memory': z.enum(settingChoices['channel-memory']).optional(),
  /** When that was set, ISO 8601: what was said before is not read [B1]. */
  channelMemorySince: z.string().optional(),
});

/** What was set for one guild, channel or thread; what is absent or `undefined` was not set there. */
export type SettingValues = z.infer<typeof valuesSchema>;

const idSchema = z.string().refine(isSnowflake, 'is no Discord id');

/** A guild's settings as its file has them, `guilds/<guildId>/settings.json`; people may edit it by hand. */
const documentSchema = z.object({
  version: z.literal(1),
  guild: valuesSchema.exactOptional(),
  /** The role that lets people into the guild: what it can read, everybody there can [V0]. */
  memberRole: idSchema.optional(),
  /** By the id of a channel or thread. */
  channels: z.record(idSchema, valuesSchema).exactOptional(),
});

type SettingsDocument = z.infer<typeof documentSchema>;

export const settingsKind: DocumentKind<SettingsDocument> = { version: 1, schema: documentSchema };

/** @throws {RangeError} when the id is no Discord id [S6]. */
function settingsKey(guildId: string): string {
  return `guilds/${assertSnowflake(guildId)}/settings.json`;
}

/** Of a place, what its settings are found by. */
type SettingsPlace = Pick<Place, 'guildId' | 'channelId' | 'parentId' | 'parentName' | 'categoryId'>;

/** Where a value that holds in a place was set: for the channel or thread itself, for the thread's parent, for the guild, or by the bot's owner in the configuration. */
export type SettingLevel = 'place' | 'parent' | 'guild' | 'configuration';

/** A value that somebody set and that holds in a place. */
export interface HoldingSetting<Value> {
  readonly value: Value;
  readonly level: SettingLevel;
}

/** What holds in a place; `undefined` was set nowhere. */
type HoldingSettings = {
  readonly [Name in SettingName]: HoldingSetting<NonNullable<SettingValues[Name]>> | undefined;
} & {
  /** When channel memory was set as it holds, ISO 8601. */
  readonly channelMemorySince: string | undefined;
};

const epoch = new Date(0).toISOString();

/** A reading of a guild's settings; `undefined` where nothing was set. */
type Reading = Promise<SettingsDocument | undefined>;

/** More than one connection to Discord may have. */
const keptGuilds = 5000;
/** Milliseconds for which the settings that were read last count: nobody edits the file by hand faster. */
const momentMs = 100;

export type PlaceSettings = ReturnType<typeof createPlaceSettings>;

/** What was set for guilds, channels and threads; DMs have no settings. The file counts from the next message on, also when it was edited by hand [S5]. */
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
  /** By guild, as they were read last. */
  const known = growingCache<string, { readonly document: SettingsDocument | undefined }>(keptGuilds);

  /** By guild, readings and changes in the order they were asked for: what was read before a change is told apart from what it changed. */
  const lanes = createKeyedQueue();
  /** By guild, a reading that has not begun: all who ask meanwhile share it. */
  const waiting = new Map<string, Reading>();
  /** Guilds whose settings were looked at for a message a moment ago. */
  const lookedAt = growingCache<string, true>(keptGuilds, { maxAge: momentMs });

  function read(guildId: string): Reading {
    const shared = waiting.get(guildId);
    if (shared !== undefined) return shared;
    const reading = lanes.run(guildId, () => {
      if (waiting.get(guildId) === reading) waiting.delete(guildId);
      return readNow(guildId);
    });
    waiting.set(guildId, reading);
    return reading;
  }

  async function readNow(guildId: string): Reading {
    try {
      const document = await store.read(settingsKey(guildId), settingsKind);
      known.set(guildId, { document });
      return document;
    } catch (error) {
      known.delete(guildId);
      throw error;
    }
  }

  /** What holds in a place. Rejects with `StoreError`. */
  async function holding(place: SettingsPlace): Promise<HoldingSettings> {
    const { guildId } = place;
    const document = guildId === undefined ? undefined : await read(guildId);
    const nearest = nearestSettings(document, place);
    return isWithoutMemory(place, noMemoryIds)
      ? { ...nearest, memory: { value: 'off', level: 'configuration' } }
      : nearest;
  }

  async function holdingOrUnknown(place: SettingsPlace): Promise<HoldingSettings | undefined> {
    try {
      return await holding(place);
    } catch (error) {
      logger.error('settings could not be read', { guildId: place.guildId, error });
      return undefined;
    }
  }

  /** Sets values for the place itself, or for its whole guild; `undefined` takes one back. Rejects with `StoreError`; in a DM with `RangeError`. */
  async function set(
    { guildId, channelId }: SettingsPlace,
    scope: 'place' | 'guild',
    values: SettingValues,
  ): Promise<void> {
    const target = scope === 'guild' ? undefined : assertSnowflake(channelId);
    await change(guildId ?? '', (document) => withSettings(document, target, values));
  }

  async function change(
    guildId: string,
    operation: (document: SettingsDocument) => SettingsDocument,
  ): Promise<void> {
    const key = settingsKey(guildId);
    // Who asks from now on is told what holds after this.
    waiting.delete(guildId);
    await lanes.run(guildId, async () => {
      // So that the last good copy is this one: what it switches off must stay off when the file is damaged by hand.
      const document = await store.update(
        key,
        settingsKind,
        (before) => operation(before ?? { version: 1 }),
        { erase: true },
      );
      known.set(guildId, { document });
    });
  }

  /** Names the role that lets people into a guild; `undefined` takes it back. Rejects with `StoreError`; with `RangeError` for what are no ids. */
  async function setMemberRole(guildId: string, roleId: string | undefined): Promise<void> {
    const named = roleId === undefined ? undefined : assertSnowflake(roleId);
    await change(guildId, (document) => ({ ...document, memberRole: named }));
  }

  /** The role that lets people into a guild. Never rejects: where it cannot be known, there is none, so that nothing becomes public by it [V0]. */
  async function memberRole(guildId: string): Promise<string | undefined> {
    try {
      return (await read(guildId))?.memberRole;
    } catch (error) {
      logger.error('settings could not be read', { guildId, error });
      return undefined;
    }
  }

  /** Whether memory is off in a place. Never rejects: where it cannot be known, it is off. */
  async function isMemoryOff(place: SettingsPlace): Promise<boolean> {
    const settings = await holdingOrUnknown(place);
    return settings === undefined || settings.memory?.value === 'off';
  }

  /** Whether Discord actions are off in a place. Never rejects: where it cannot be known, they are. */
  async function areActionsOff(place: SettingsPlace): Promise<boolean> {
    const settings = await holdingOrUnknown(place);
    return settings === undefined || settings.actions?.value === 'off';
  }

  /** Since when channel memory is on in a place of a guild, ISO 8601 [B1]; `undefined` where it is off, as by default. Never rejects: where it cannot be known, it is off. */
  async function channelMemorySince(place: SettingsPlace): Promise<string | undefined> {
    const settings = await holdingOrUnknown(place);
    return settings?.['channel-memory']?.value === 'on' ? settings.channelMemorySince : undefined;
  }

  /** Whether it may be on anywhere in a guild, by what was read last, if anything was: for the many messages of which nothing else is asked. */
  function mayHaveChannelMemory(guildId: string): boolean {
    const last = known.get(guildId);
    if (last === undefined) return true;
    return last.document !== undefined && isOnAnywhere(last.document);
  }

  /** When the bot answers in a place, where that was set. Never rejects. */
  async function answerMode(place: SettingsPlace): Promise<AnswerMode | undefined> {
    if (place.guildId !== undefined) lookedAt.set(place.guildId, true);
    return (await holdingOrUnknown(place))?.answer?.value;
  }

  /** The same by what was read last, for the many messages that are not for the bot; `unknown` where nobody has looked just now. */
  function recentAnswerMode(place: SettingsPlace): AnswerMode | 'unknown' | undefined {
    if (place.guildId === undefined) return undefined;
    const last = known.get(place.guildId);
    if (last === undefined || !lookedAt.has(place.guildId)) return 'unknown';
    return nearestSettings(last.document, place).answer?.value;
  }

  return {
    holding,
    set,
    memberRole,
    setMemberRole,
    isMemoryOff,
    areActionsOff,
    channelMemorySince,
    mayHaveChannelMemory,
    answerMode,
    recentAnswerMode,
  };
}

/** Whether the configuration has memory off in a place. A thread whose parent is not known may be in any category. */
function isWithoutMemory(
  { channelId, parentId, parentName, categoryId }: SettingsPlace,
  noMemoryIds: readonly string[],
): boolean {
  if (parentId !== undefined && parentName === undefined && noMemoryIds.length > 0) return true;
  return [channelId, parentId, categoryId].some((id) => id !== undefined && noMemoryIds.includes(id));
}

const isOnAnywhere = oncePer(({ guild, channels = {} }: SettingsDocument): boolean =>
  [guild, ...Object.values(channels)].some((values) => values?.['channel-memory'] === 'on'),
);

/** What holds in a place of the guild: what was set nearest to it wins. */
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
    'channel-memory': nearest((values) => values['channel-memory']),
    channelMemorySince: nearest((values) =>
      values['channel-memory'] === undefined ? undefined : (values.channelMemorySince ?? epoch),
    )?.value,
  };
}

/** The document with values set for a channel or thread, or, without `channelId`, for the guild; `undefined` takes one back. */
function withSettings(
  known: SettingsDocument,
  channelId: string | undefined,
  values: SettingValues,
): SettingsDocument {
  if (channelId === undefined) return { ...known, guild: { ...known.guild, ...values } };
  const before = new Map(Object.entries(known.channels ?? {})).get(channelId);
  return { ...known, channels: { ...known.channels, [channelId]: { ...before, ...values } } };
}
