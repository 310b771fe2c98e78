import type { AnswerMode } from '../../core/chat.ts';
import type { Logger } from '../../core/logger.ts';
import { assertSnowflake } from '../../core/snowflake.ts';
import type { Store } from '../../core/store.ts';
import { resolveSettings, withSettings } from './resolve-settings.ts';
import type { HoldingSettings, SettingsPlace } from './resolve-settings.ts';
import { settingsKey, settingsKind } from './settings-document.ts';
import type { SettingValues } from './settings-document.ts';

/**
 * What the bot's owner has set for guilds, channels and threads; DMs have no settings. The file counts from the next message on, also
 * when it was edited by hand [S5].
 */
export interface PlaceSettings {
  /** What holds in a place. Rejects with `StoreError`. */
  readonly holding: (place: SettingsPlace) => Promise<HoldingSettings>;
  /** Sets values for the place itself, or for its whole guild; `undefined` takes one back. Rejects with `StoreError`; in a DM with `RangeError`. */
  readonly set: (place: SettingsPlace, scope: 'place' | 'guild', values: SettingValues) => Promise<void>;
  /** Whether memory is off in a place. Never rejects: where it cannot be known, it is off. */
  readonly isMemoryOff: (place: SettingsPlace) => Promise<boolean>;
  /** Whether Discord actions are off in a place. Never rejects: where it cannot be known, they are. */
  readonly areActionsOff: (place: SettingsPlace) => Promise<boolean>;
  /** When the bot answers in a place, where that was set. Never rejects. */
  readonly answerMode: (place: SettingsPlace) => Promise<AnswerMode | undefined>;
}

export function createPlaceSettings({
  store,
  logger,
}: {
  readonly store: Store;
  readonly logger: Logger;
}): PlaceSettings {
  async function holding(place: SettingsPlace): Promise<HoldingSettings> {
    const { guildId } = place;
    const document = guildId === undefined ? undefined : await store.read(settingsKey(guildId), settingsKind);
    return resolveSettings(document, place);
  }

  async function holdingOrUnknown(place: SettingsPlace): Promise<HoldingSettings | undefined> {
    try {
      return await holding(place);
    } catch (error) {
      logger.error('settings could not be read', { guildId: place.guildId, error });
      return undefined;
    }
  }

  return {
    holding,
    async set({ guildId, channelId }, scope, values) {
      const key = settingsKey(guildId ?? '');
      const target = scope === 'guild' ? undefined : assertSnowflake(channelId);
      await store.update(key, settingsKind, (document) => withSettings(document, target, values));
      // So that the last good copy is this one: what it switches off must stay off when the file is damaged by hand.
      await store.update(key, settingsKind, (document) => document && { ...document });
    },
    async isMemoryOff(place) {
      const settings = await holdingOrUnknown(place);
      return settings === undefined || settings.memory?.value === 'off';
    },
    async areActionsOff(place) {
      const settings = await holdingOrUnknown(place);
      return settings === undefined || settings.actions?.value === 'off';
    },
    answerMode: async (place) => (await holdingOrUnknown(place))?.answer?.value,
  };
}
