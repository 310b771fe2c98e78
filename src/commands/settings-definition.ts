import { settingChoices } from '../memory/settings/place-settings.ts';

/** What Discord calls a subcommand, and an option that is a text. */
const subcommand = 1;
const text = 3;

/** Choices as Discord wants them, each under its own name. */
function choicesOf(values: readonly string[]) {
  return values.map((value) => ({ name: value, value }));
}

const scopeOption = {
  type: text,
  name: 'for',
  description: 'Where it is to hold; this channel or thread if you do not say',
  choices: [
    { name: 'this channel or thread', value: 'channel' },
    { name: 'the whole server', value: 'server' },
  ],
};

function setting(name: keyof typeof settingChoices, description: string) {
  const value = {
    type: text,
    name: 'value',
    description: 'The new value; default takes back what was set',
    required: true,
    choices: choicesOf([...settingChoices[name], 'default']),
  };
  return { type: subcommand, name, description, options: [value, scopeOption] };
}

/** `/settings` as Discord's application command JSON: in guilds only, since DMs have no settings. */
export const settingsDefinition = {
  type: 1,
  name: 'settings',
  description: 'What holds for me in this channel and server (for my owner)',
  contexts: [0],
  integration_types: [0],
  options: [
    { type: subcommand, name: 'show', description: 'Show what holds here and where it was set' },
    setting('answer', 'Answer to mentions and replies only, or to everything'),
    setting('memory', 'Use and keep memory here, or not'),
    setting('actions', 'Let me react, pin, start threads, make polls and send here, or not'),
    { type: subcommand, name: 'help', description: 'Explain the settings' },
  ],
};

/** The words after `!settings`, from a slash command's subcommand and its options. */
export function settingsWordsFromSlash(
  subcommandName: string,
  options: Readonly<Record<string, string>>,
): string {
  return [subcommandName, options['value'] ?? '', options['for'] ?? ''].join(' ').trim();
}
