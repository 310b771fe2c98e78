import type { Place } from '../../core/place.ts';
import type { SettingName, SettingsDocument, SettingValues } from './settings-document.ts';

/** Of a place, what its settings are found by. */
export type SettingsPlace = Pick<Place, 'guildId' | 'channelId' | 'parentId'>;

/** Where a value that holds in a place was set: for the channel or thread itself, for the thread's parent, or for the guild. */
export type SettingLevel = 'place' | 'parent' | 'guild';

/** A value that somebody set and that holds in a place. */
export interface HoldingSetting<Value> {
  readonly value: Value;
  readonly level: SettingLevel;
}

/** What holds in a place; `undefined` was set nowhere. */
export type HoldingSettings = {
  readonly [Name in SettingName]: HoldingSetting<NonNullable<SettingValues[Name]>> | undefined;
};

/** What holds in a place of the guild: what was set nearest to it wins. */
export function resolveSettings(
  document: SettingsDocument | undefined,
  { channelId, parentId }: SettingsPlace,
): HoldingSettings {
  const channels = new Map(Object.entries(document?.channels ?? {}));
  const levels: readonly (readonly [SettingLevel, SettingValues | undefined])[] = [
    ['place', channels.get(channelId)],
    ['parent', parentId === undefined ? undefined : channels.get(parentId)],
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

/** The document with values set for a channel or thread, or, without `channelId`, for the guild; `undefined` takes one back. */
export function withSettings(
  document: SettingsDocument | undefined,
  channelId: string | undefined,
  values: SettingValues,
): SettingsDocument {
  const known = document ?? { version: 1 };
  if (channelId === undefined) return { ...known, guild: { ...known.guild, ...values } };
  const before = new Map(Object.entries(known.channels ?? {})).get(channelId);
  return { ...known, channels: { ...known.channels, [channelId]: { ...before, ...values } } };
}
