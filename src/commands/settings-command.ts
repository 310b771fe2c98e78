import type { AnswerMode, ServerPort } from '../core/channels.ts';
import type { CommandContext, CommandReply, SubcommandDefinition } from '../core/commands.ts';
import type { Place } from '../core/place.ts';
import { dataLine } from '../core/section.ts';
import {
  settingChoices,
  type HoldingSetting,
  personaMaxChars,
  type PlaceSettings,
  type SettingLevel,
  type SettingName,
  type SettingValues,
} from '../memory/settings/place-settings.ts';
import { linesOf, quoted } from './answer-lines.ts';
import { defineCommand, type Command, type CommandInput } from './command.ts';
import {
  accessSubcommand,
  answerAccess,
  type AccessPorts,
  answerModel,
  modelSubcommand,
  type ModelChoice,
} from './settings-owner.ts';

const helpEnd =
  "`answer`, `memory` and `actions` are for this channel or thread; with `server` at the end it is for the whole server. A thread's settings override its channel's, and those override the server's.";

const scope = {
  kind: 'choice',
  description: 'Where it applies; by default this channel or thread',
  choices: [
    { name: 'this channel or thread', value: 'channel', aliases: ['here'] },
    { name: 'the whole server', value: 'server', aliases: ['guild'] },
  ],
  isOptional: true,
} as const;

/** The subcommand of one setting, with the values that it can have, or `default`. */
function settingSubcommand<Name extends SettingName>(name: Name, description: string) {
  const words = [...settingChoices[name], 'default'] as const;
  return {
    description,
    options: {
      value: {
        kind: 'choice',
        description: 'The new value; default removes the setting',
        choices: words.map((value) => ({ name: value, value })),
      },
      for: scope,
    },
  } as const satisfies SubcommandDefinition;
}

/** `!settings` and `/settings` as data. */
export const settingsDefinition = {
  name: 'settings',
  description: 'My settings in this channel and server (for people who manage the server)',
  managersOnly: 'Only my owner and people who may manage this server can see and change my settings.',
  serverOnly:
    'Settings belong to servers that I am in. Use this command in the server or channel that it is for.',
  subcommands: {
    show: { description: 'Show the settings here and where each was set' },
    access: accessSubcommand,
    model: modelSubcommand,
    answer: settingSubcommand(
      'answer',
      'Answer mentions and replies, also who goes on talking with me, or everything',
    ),
    memory: settingSubcommand('memory', 'Use and keep memory here, or not'),
    actions: settingSubcommand(
      'actions',
      'Let me react, pin, start threads, make polls and send here, or not',
    ),
    persona: {
      description: 'Say how I should speak in this server',
      options: {
        text: { kind: 'text', description: `Up to ${personaMaxChars} characters; default removes it` },
      },
    },
    'member-role': {
      description: 'Name the role that lets people into this server (for its owner and administrators)',
      options: { role: { kind: 'role', description: 'The role; @everyone for none' } },
    },
  },
  help: { description: 'Explain the settings', end: helpEnd, noun: 'setting' },
} as const;

type SettingsInput = CommandInput<typeof settingsDefinition>;

export interface SettingsPorts extends AccessPorts {
  readonly modelChoice: ModelChoice;
  readonly placeSettings: PlaceSettings;
  readonly server: ServerPort;
  /** What the configuration says where nothing was set. */
  readonly defaults: {
    readonly answer: (place: Place) => { readonly value: AnswerMode; readonly from: string };
    /** Whether there are Discord actions at all. */
    readonly actionsEnabled: boolean;
  };
}

/** For the bot's owner and those who manage a server. */
export function createSettingsCommand(ports: SettingsPorts): Command {
  return defineCommand(settingsDefinition, {
    refuse: async ({ speaker, place }) => {
      const may =
        speaker.isOwner || (await ports.server.permissionLevel(place.guildId ?? '', speaker.id)) !== 'none';
      return may ? undefined : settingsDefinition.managersOnly;
    },
    handle: (input, context) => handle(input, context, ports),
  });
}

async function handle(
  input: SettingsInput,
  context: CommandContext,
  ports: SettingsPorts,
): Promise<CommandReply> {
  const { place } = context;
  if (input.subcommand === 'show') return { text: linesOf(await settingLines(place, ports)) };
  if (input.subcommand === 'access') return answerAccess(input, context, ports);
  if (input.subcommand === 'model') return answerModel(input.name, context, ports.modelChoice);
  if (input.subcommand === 'member-role') return nameMemberRole(input.role, context, ports);
  if (input.subcommand === 'persona') return givePersona(input.text, context, ports);
  const values: SettingValues = { [input.subcommand]: input.value === 'default' ? undefined : input.value };
  const isForServer = input.for === 'server';
  await ports.placeSettings.set(place, isForServer ? 'guild' : 'place', values);
  const where = isForServer ? 'for the whole server' : 'for this place';
  const { memory } = await ports.placeSettings.holding(place);
  return {
    text: linesOf(
      input.value === 'default'
        ? `Done: \`${input.subcommand}\` is no longer set ${where}.`
        : `Done: \`${input.subcommand}\` is \`${input.value}\` ${where}.`,
      values.memory === 'off' && memoryOffNote,
      values.memory === 'on' && memory?.level === 'configuration' && noMemoryNote,
      '',
      await settingLines(place, ports),
    ),
  };
}

/** For owner and administrators alone, since what the role can read counts as public from then on [V0]. */
async function nameMemberRole(
  named: string,
  { speaker, place: { guildId = '' } }: CommandContext,
  { placeSettings, server }: SettingsPorts,
): Promise<CommandReply> {
  if ((await server.permissionLevel(guildId, speaker.id)) !== 'administrator')
    return { text: 'Only the owner and administrators of this server can name its member role.' };
  if (named === 'default' || named === '@everyone' || named === guildId) {
    await placeSettings.setMemberRole(guildId, undefined);
    return { text: 'Done: no role is named; only what @everyone can read counts as public here.' };
  }
  const role = server.role(guildId, named);
  if (role === undefined)
    return { text: `I know of no role ${quoted(named)} here, or more than one. Name it by its id.` };
  await placeSettings.setMemberRole(guildId, role.id);
  return { text: `Done: people are let into this server by ${roleName(role)}. ${memberRoleNote}` };
}

async function givePersona(
  text: string,
  { place: { guildId = '' } }: CommandContext,
  { placeSettings }: SettingsPorts,
): Promise<CommandReply> {
  if (text.toLowerCase() === 'default') {
    await placeSettings.setPersona(guildId, undefined);
    return { text: 'Done: I speak here as I do everywhere.' };
  }
  const { length } = Array.from(text);
  if (length > personaMaxChars)
    return {
      text: `That is ${length} characters. Please shorten it to ${personaMaxChars}; nothing was changed.`,
    };
  await placeSettings.setPersona(guildId, text);
  return { text: `Done: in this server I speak like this: ${dataLine(text)}\n${personaNote}` };
}

const personaNote =
  'It changes my tone, not what I may do: with it, whatever would change a memory or act on Discord waits for a button.';

function roleName({ name }: { readonly name: string }): string {
  return dataLine(name.startsWith('@') ? name : `@${name}`);
}

const memberRoleNote =
  'Channels that this role can read count as public from now on: what I am told there I may use in other channels of this server too, each time for the person who said it. What I was told there before I use only in the DM of the person who said it, until they share it or say it again.';

async function settingLines(
  place: Place,
  { placeSettings, server, defaults }: SettingsPorts,
): Promise<readonly string[]> {
  const { guildId = '' } = place;
  const { memory, ...set } = await placeSettings.holding(place);
  const memberRole = await placeSettings.memberRole(guildId);
  const role = memberRole === undefined ? undefined : server.role(guildId, memberRole);
  const persona = await placeSettings.persona(guildId);
  const byDefault = defaults.answer(place);
  const isThread = place.parentId !== undefined;
  const levels: Readonly<Record<SettingLevel, string>> = {
    place: isThread ? 'this thread' : 'this channel',
    parent: 'the channel that this thread belongs to',
    guild: 'the server',
    configuration: 'the whole bot',
  };
  const line = (name: SettingName, setting: HoldingSetting<string> | undefined, otherwise: string): string =>
    `- \`${name}\`: ${setting === undefined ? otherwise : `${setting.value} (set for ${levels[setting.level]})`}`;
  return [
    `Settings in ${isThread ? 'the thread ' : '#'}${dataLine(place.channelName ?? 'this channel')}:`,
    line('answer', set.answer, `${byDefault.value} (${byDefault.from})`),
    memory?.level === 'configuration'
      ? `- \`memory\`: off (${noMemoryName}, which nothing here overrides)`
      : line('memory', memory, 'on (nothing is set)'),
    defaults.actionsEnabled
      ? line('actions', set.actions, 'on (nothing is set)')
      : '- `actions`: off (DISCOCLAW_DISCORD_ACTIONS_ENABLED)',
    `- \`persona\`: ${persona === undefined ? 'none' : dataLine(persona)}`,
    `- \`member-role\`: ${role === undefined ? 'none: what @everyone can read is public' : roleName(role)}`,
  ];
}

const noMemoryName = 'DISCOCLAW_NO_MEMORY_CHANNELS';

const memoryOffNote =
  'From now on I use nothing that I remember here, and keep nothing of what is said. What I remembered before stays: people can see and delete it with `!memory show` and `!memory forget`.';

const noMemoryNote = `This changes nothing here: my owner has switched memory off in this channel for good, with \`${noMemoryName}\`.`;
