import {
  ApplicationCommandOptionType,
  ApplicationCommandType,
  type APIApplicationCommandOption,
} from 'discord-api-types/v10';

import type { Channel, Command, User } from '../world/entities.ts';
import { canView } from '../world/permissions.ts';
import { guildIdOf, userOf, type World } from '../world/world.ts';

export interface PersonView {
  readonly id: string;
  readonly name: string;
  readonly isBot: boolean;
}

export interface ChannelView {
  readonly id: string;
  /** A forum takes posts, which are threads. */
  readonly kind: 'text' | 'forum' | 'voice' | 'stage' | 'thread' | 'dm';
  /** A DM has the person's name. */
  readonly name: string;
  readonly guildId?: string;
  readonly parentId?: string;
  /** Of a thread: put away, and open only to who may manage threads. */
  readonly isArchived?: boolean;
  readonly isLocked?: boolean;
  /** The names of all who can view it, bots included. */
  readonly seenBy: readonly string[];
}

export function personView(user: User): PersonView {
  return { id: user.id, name: user.username, isBot: user.bot };
}

export function channelView(world: World, channel: Channel): ChannelView {
  const guildId = guildIdOf(channel);
  return {
    id: channel.id,
    kind: channel.kind === 'text' ? channel.form : channel.kind,
    name: channel.kind === 'dm' ? userOf(world, channel.personId).username : channel.name,
    ...(guildId === undefined ? {} : { guildId }),
    ...(channel.kind === 'thread'
      ? { parentId: channel.parentId, isArchived: channel.archived, isLocked: channel.locked }
      : {}),
    seenBy: [...world.users.values()]
      .filter((user) => canView(world, channel, user.id))
      .map(({ username }) => username),
  };
}

/** A command as the bot has registered it. */
export interface CommandView {
  readonly name: string;
  /** `message` and `user` are entries of the menus of messages and people. */
  readonly type: 'slash' | 'message' | 'user';
  /** Where it belongs to one guild only. */
  readonly guildId?: string;
  /** Empty where the command takes its options itself. */
  readonly subcommands: readonly { readonly name: string; readonly options: readonly OptionView[] }[];
  /** Its own options. */
  readonly options: readonly OptionView[];
}

export interface OptionView {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'user' | 'channel' | 'role' | 'other';
  readonly required: boolean;
  /** Whether the bot completes what is typed. */
  readonly autocomplete: boolean;
  /** The only values; empty where others are taken too. */
  readonly choices: readonly { readonly name: string; readonly value: string | number }[];
}

export function commandView({ type, name, guildId, options }: Command): CommandView {
  return {
    name,
    type: commandType(type),
    ...(guildId === undefined ? {} : { guildId }),
    subcommands: options.filter(isSubcommand).map((subcommand) => ({
      name: subcommand.name,
      options: 'options' in subcommand ? (subcommand.options ?? []).map(optionView) : [],
    })),
    options: options.filter((option) => !isSubcommand(option)).map(optionView),
  };
}

function commandType(type: ApplicationCommandType): CommandView['type'] {
  switch (type) {
    case ApplicationCommandType.Message:
      return 'message';
    case ApplicationCommandType.User:
      return 'user';
    case ApplicationCommandType.ChatInput:
    case ApplicationCommandType.PrimaryEntryPoint:
      return 'slash';
  }
}

function isSubcommand({ type }: APIApplicationCommandOption): boolean {
  return type === ApplicationCommandOptionType.Subcommand;
}

function optionView(option: APIApplicationCommandOption): OptionView {
  return {
    name: option.name,
    type: optionType(option.type),
    required: option.required ?? false,
    autocomplete: 'autocomplete' in option && (option.autocomplete ?? false),
    choices: 'choices' in option ? (option.choices ?? []).map(({ name, value }) => ({ name, value })) : [],
  };
}

function optionType(type: ApplicationCommandOptionType): OptionView['type'] {
  switch (type) {
    case ApplicationCommandOptionType.String:
      return 'string';
    case ApplicationCommandOptionType.Integer:
      return 'integer';
    case ApplicationCommandOptionType.Number:
      return 'number';
    case ApplicationCommandOptionType.Boolean:
      return 'boolean';
    case ApplicationCommandOptionType.User:
      return 'user';
    case ApplicationCommandOptionType.Channel:
      return 'channel';
    case ApplicationCommandOptionType.Role:
      return 'role';
    case ApplicationCommandOptionType.Subcommand:
    case ApplicationCommandOptionType.SubcommandGroup:
    case ApplicationCommandOptionType.Mentionable:
    case ApplicationCommandOptionType.Attachment:
      return 'other';
  }
}
