import {
  ApplicationCommandOptionType as Type,
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
  return {
    id: channel.id,
    /** A forum takes posts, which are threads. */
    kind: channel.kind === 'text' ? channel.form : channel.kind,
    /** A DM has the person's name. */
    name: channel.kind === 'dm' ? userOf(world, channel.personId).username : channel.name,
    guildId: guildIdOf(channel),
    /** Of a thread; one that was put away is open only to who may manage threads. */
    parentId: channel.kind === 'thread' ? channel.parentId : undefined,
    isArchived: channel.kind === 'thread' ? channel.archived : undefined,
    isLocked: channel.kind === 'thread' ? channel.locked : undefined,
    /** The names of all who can view it, bots included. */
    seenBy: [...world.users.values()]
      .filter((user) => canView(world, channel, user.id))
      .map(({ username }) => username),
  };
}

/** A command as the bot has registered it, for one guild or for all. */
export function commandView({ type, name, guildId, options }: Command) {
  const subcommands = subcommandsOf({ options });
  return {
    name,
    type: commandTypes[type],
    guildId,
    /** Empty where the command takes its options itself. */
    subcommands: subcommands.map(({ name: subcommand, path, options: own }) => ({
      name: subcommand,
      /** Behind the name of its group, where it is in one. */
      path,
      options: own.map(optionView),
    })),
    /** Its own. */
    options: subcommands.length > 0 ? [] : options.map(optionView),
  };
}

/** `message` is an entry of the menus of messages. */
const commandTypes = {
  [ApplicationCommandType.ChatInput]: 'slash',
  [ApplicationCommandType.Message]: 'message',
} as const;

function optionView(option: APIApplicationCommandOption) {
  const { autocomplete = false, choices = [] } = option.type === Type.String ? option : {};
  return {
    name: option.name,
    takesFile: option.type === Type.Attachment,
    required: option.required ?? false,
    /** Whether the bot completes what is typed. */
    autocomplete,
    /** The only values; empty where others are taken too. */
    choices: choices.map(({ name, value }) => ({ name, value })),
  };
}
