import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  type APIApplicationCommandOption,
} from 'discord-api-types/v10';

import type { Channel, Command, User } from '../world/entities.ts';
import { canView } from '../world/permissions.ts';
import { guildIdOf, userOf, type World } from '../world/world.ts';
import { subcommandsOf } from './slash-command.ts';

export type PersonView = ReturnType<typeof personView>;
export type ChannelView = ReturnType<typeof channelView>;
export type CommandView = ReturnType<typeof commandView>;
export type OptionView = ReturnType<typeof optionView>;

export function personView(user: User) {
  return { id: user.id, name: user.username, isBot: user.bot };
}

export function channelView(world: World, channel: Channel) {
  const guildId = guildIdOf(channel);
  return {
    id: channel.id,
    /** A forum takes posts, which are threads. */
    kind: channel.kind === 'text' ? channel.form : channel.kind,
    /** A DM has the person's name. */
    name: channel.kind === 'dm' ? userOf(world, channel.personId).username : channel.name,
    ...(guildId === undefined ? {} : { guildId }),
    /** A thread that was put away is open only to who may manage threads. */
    ...(channel.kind === 'thread'
      ? { parentId: channel.parentId, isArchived: channel.archived, isLocked: channel.locked }
      : {}),
    /** The names of all who can view it, bots included. */
    seenBy: [...world.users.values()]
      .filter((user) => canView(world, channel, user.id))
      .map(({ username }) => username),
  };
}

/** A command as the bot has registered it, for one guild or for all. */
export function commandView({ type, name, guildId, options }: Command) {
  return {
    name,
    type: commandTypes[type],
    ...(guildId === undefined ? {} : { guildId }),
    /** Empty where the command takes its options itself. */
    subcommands: subcommandsOf({ options }).map((subcommand) => ({
      name: subcommand.name,
      ...(subcommand.group === undefined ? {} : { group: subcommand.group }),
      options: subcommand.options.map(optionView),
    })),
    /** Its own. */
    options: options.filter((option) => !isSubcommand(option)).map(optionView),
  };
}

/** `message` and `user` are entries of the menus of messages and people. */
const commandTypes = {
  [ApplicationCommandType.ChatInput]: 'slash',
  [ApplicationCommandType.PrimaryEntryPoint]: 'slash',
  [ApplicationCommandType.Message]: 'message',
  [ApplicationCommandType.User]: 'user',
} as const;

function isSubcommand({ type }: APIApplicationCommandOption): boolean {
  return (
    type === ApplicationCommandOptionType.Subcommand || type === ApplicationCommandOptionType.SubcommandGroup
  );
}

function optionView(option: APIApplicationCommandOption) {
  return {
    name: option.name,
    type: optionTypes[option.type],
    required: option.required ?? false,
    /** Whether the bot completes what is typed. */
    autocomplete: 'autocomplete' in option && (option.autocomplete ?? false),
    /** The only values; empty where others are taken too. */
    choices: 'choices' in option ? (option.choices ?? []).map(({ name, value }) => ({ name, value })) : [],
  };
}

const optionTypes = {
  [ApplicationCommandOptionType.String]: 'string',
  [ApplicationCommandOptionType.Integer]: 'integer',
  [ApplicationCommandOptionType.Number]: 'number',
  [ApplicationCommandOptionType.Boolean]: 'boolean',
  [ApplicationCommandOptionType.User]: 'user',
  [ApplicationCommandOptionType.Channel]: 'channel',
  [ApplicationCommandOptionType.Role]: 'role',
  [ApplicationCommandOptionType.Subcommand]: 'other',
  [ApplicationCommandOptionType.SubcommandGroup]: 'other',
  [ApplicationCommandOptionType.Mentionable]: 'other',
  [ApplicationCommandOptionType.Attachment]: 'attachment',
} as const;
