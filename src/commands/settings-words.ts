import { settingChoices, settingNames } from '../memory/settings/place-settings.ts';
import type { SettingName, SettingValues } from '../memory/settings/place-settings.ts';
import { withoutMentionMarks } from '../core/own-words.ts';
import { quoted } from './quoted.ts';

/** What the owner wants of the settings. */
export type SettingsWords =
  | { readonly command: 'show' }
  | {
      readonly command: 'set';
      readonly name: SettingName;
      /** One setting; `undefined` takes it back. */
      readonly values: SettingValues;
      readonly scope: 'place' | 'guild';
    }
  /** `reason` says what was not understood, where something was not. */
  | { readonly command: 'help'; readonly reason?: string };

const scopes: ReadonlyMap<string, 'place' | 'guild'> = new Map([
  ['here', 'place'],
  ['channel', 'place'],
  ['server', 'guild'],
  ['guild', 'guild'],
]);

const defaultWord = 'default';

/** Reads the words after `!settings`: a setting, its value and, in any order, where it is to hold; without that, in this channel. */
export function parseSettingsWords(words: string): SettingsWords {
  const [first = '', ...others] = withoutMentionMarks(words).trim().toLowerCase().split(/\s+/u);
  if (first === '' || first === 'help') return { command: 'help' };
  if (first === 'show') return { command: 'show' };
  const name = settingNames.find((each) => each === first);
  if (name === undefined) return help(`I don't know the setting ${quoted(first)}.`);
  const scope = others.flatMap((word) => scopes.get(word) ?? []);
  const [value, ...rest] = others.filter((word) => !scopes.has(word));
  const values = value === undefined ? undefined : valuesOf(name, value);
  if (values === undefined || rest.length > 0 || scope.length > 1)
    return help(`\`${name}\` can be ${[...settingChoices[name], defaultWord].join(', ')}.`);
  return { command: 'set', name, values, scope: scope[0] ?? 'place' };
}

function valuesOf(name: SettingName, value: string): SettingValues | undefined {
  if (value === defaultWord) return { [name]: undefined };
  switch (name) {
    case 'answer':
      return valueOf(settingChoices.answer, value, (answer) => ({ answer }));
    case 'memory':
      return valueOf(settingChoices.memory, value, (memory) => ({ memory }));
    case 'actions':
      return valueOf(settingChoices.actions, value, (actions) => ({ actions }));
  }
}

function valueOf<Value extends string>(
  choices: readonly Value[],
  word: string,
  make: (value: Value) => SettingValues,
): SettingValues | undefined {
  const value = choices.find((choice) => choice === word);
  return value === undefined ? undefined : make(value);
}

function help(reason: string): SettingsWords {
  return { command: 'help', reason };
}
