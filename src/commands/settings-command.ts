import type { AnswerMode, CommandRequest } from '../core/chat.ts';
import { NewerVersionError, StoreError, referenceTo, withReference } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import { dataLine } from '../core/section.ts';
import type {
  HoldingSetting,
  PlaceSettings,
  SettingLevel,
  SettingName,
} from '../memory/settings/place-settings.ts';
import type { Command } from './command-set.ts';
import { settingsDefinition, settingsWordsFromSlash } from './settings-definition.ts';
import { parseSettingsWords } from './settings-words.ts';
import type { SettingsWords } from './settings-words.ts';

export interface SettingsCommandOptions {
  readonly placeSettings: Pick<PlaceSettings, 'holding' | 'set'>;
  /** What the configuration says where nothing was set. */
  readonly defaults: {
    readonly answer: (place: CommandRequest['place']) => {
      readonly value: AnswerMode;
      readonly from: string;
    };
    /** Whether there are Discord actions at all. */
    readonly actionsEnabled: boolean;
  };
  readonly logger: Logger;
}

/** `!settings` and `/settings`: what the bot's owner wants of it in a server and its channels. */
export function createSettingsCommand(options: SettingsCommandOptions): Command {
  return {
    slash: { name: 'settings', definition: settingsDefinition, words: settingsWordsFromSlash },
    async handle(request) {
      const { speaker, place } = request;
      if (!speaker.isOwner) return 'Only my owner can see and change my settings.';
      if (place.guildId === undefined)
        return 'Settings belong to servers. Give this command in the server or channel that it is for.';
      const words = parseSettingsWords(request.words);
      try {
        return await answer(words, request, options);
      } catch (error) {
        const reference = referenceTo(request.id);
        options.logger.error('a settings command failed', { reference, guildId: place.guildId, error });
        return withReference(failure(error), reference);
      }
    },
  };
}

async function answer(
  words: SettingsWords,
  request: CommandRequest,
  options: SettingsCommandOptions,
): Promise<string> {
  switch (words.command) {
    case 'show':
      return [...(await holdingLines(request, options)), '', changeHint].join('\n');
    case 'set':
      await options.placeSettings.set(request.place, words.scope, words.values);
      return [
        doneLine(words),
        ...(words.values.memory === 'off' ? [memoryOffNote] : []),
        ...(words.values.actions === 'on' && !options.defaults.actionsEnabled ? [noActionsNote] : []),
        '',
        ...(await holdingLines(request, options)),
      ].join('\n');
    case 'help':
      return words.reason === undefined ? help : `${words.reason}\n\n${help}`;
  }
}

function doneLine({ name, values, scope }: SettingsWords & { readonly command: 'set' }): string {
  const where = scope === 'guild' ? 'for the whole server' : 'for this place';
  const value = values[name];
  return value === undefined
    ? `Done: \`${name}\` is no longer set ${where}.`
    : `Done: \`${name}\` is \`${value}\` ${where}.`;
}

async function holdingLines(
  { place }: CommandRequest,
  { placeSettings, defaults }: SettingsCommandOptions,
): Promise<readonly string[]> {
  const { answer: mode, memory, actions } = await placeSettings.holding(place);
  const byDefault = defaults.answer(place);
  const isThread = place.parentId !== undefined;
  const line = (name: SettingName, setting: HoldingSetting<string> | undefined, otherwise: string): string =>
    `- \`${name}\`: ${setting === undefined ? otherwise : `${setting.value} (set for ${levelName(setting.level, isThread)})`}`;
  return [
    `What holds in ${isThread ? 'the thread ' : '#'}${dataLine(place.channelName ?? 'this channel')}:`,
    line('answer', mode, `${byDefault.value} (${byDefault.from})`),
    line('memory', memory, 'on (nothing is set)'),
    defaults.actionsEnabled
      ? line('actions', actions, 'on (nothing is set)')
      : '- `actions`: off (DISCOCLAW_DISCORD_ACTIONS_ENABLED)',
  ];
}

function levelName(level: SettingLevel, isThread: boolean): string {
  switch (level) {
    case 'place':
      return isThread ? 'this thread' : 'this channel';
    case 'parent':
      return 'the channel that this thread belongs to';
    case 'guild':
      return 'the server';
  }
}

function failure(error: unknown): string {
  if (error instanceof NewerVersionError)
    return 'The settings of this server were written by a newer version of me, so I neither read nor change them. Please update me.';
  if (error instanceof StoreError)
    return "I can't read or save settings right now, so nothing was changed. Please look at the disk, and try again.";
  return 'Something went wrong on my side, and nothing was changed. Please try again.';
}

const memoryOffNote =
  'I use nothing that I remember here, and keep nothing of what is said from now on. What I remembered before stays: people see and delete it with `!memory show` and `!memory forget`.';

const noActionsNote =
  'It changes nothing yet: `DISCOCLAW_DISCORD_ACTIONS_ENABLED` switches actions off on the whole bot.';

const changeHint =
  'Change one with `!settings answer mentions|everything|default`, `!settings memory on|off|default` or `!settings actions on|off|default`, with `server` at the end for the whole server.';

const help = `\`!settings show\` shows what holds here and where it was set
\`!settings answer mentions|everything|default\` makes me answer to mentions and replies only, or to everything
\`!settings memory on|off|default\` makes me use and keep memory here, or not
\`!settings actions on|off|default\` lets me react, pin, start threads, make polls and send messages here, or not

Each is for this channel or thread; with \`server\` at the end it is for the whole server. What is set for a thread wins over its channel, and that over the server. The same commands exist as \`/settings\`, whose answers only you see.`;
