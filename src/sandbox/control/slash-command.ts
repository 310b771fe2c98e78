import {
  ApplicationCommandOptionType as Type,
  ApplicationCommandType,
  InteractionContextType,
  PermissionFlagsBits,
  type APIApplicationCommandOption,
} from 'discord-api-types/v10';

import type { Attachment, Channel, Command, InteractionOption, User } from '../world/entities.ts';
import { may } from '../world/permissions.ts';
import { guildIdOf, type World } from '../world/world.ts';
import type { CheckedInput } from './control-inputs.ts';
import { findRole, knownPerson, titleOf } from './references.ts';
import { SandboxError } from './sandbox-control.ts';

type OptionValues = CheckedInput<'slash'>['options'];

/**
 * The options of a slash command as the gateway carries them, checked against how the bot registered it, as Discord's
 * client does before it sends anything.
 * @throws {SandboxError} for an unknown or missing subcommand or option, or a value of the wrong kind.
 */
export function slashOptions(
  world: World,
  command: Command,
  subcommand: string | undefined,
  values: OptionValues,
  attachments: readonly Attachment[],
): readonly InteractionOption[] {
  return inSubcommand(command, subcommand, ({ title, registered }) => {
    requireKnown(title, registered, Object.keys(values));
    const missing = registered.find(({ name, required }) => required === true && values[name] === undefined);
    if (missing !== undefined) {
      throw new SandboxError(`${title} needs the option ${missing.name}${choicesText(missing)}`);
    }
    return filledIn(world, title, registered, values, attachments);
  });
}

/**
 * The options while one is being typed: that one is `focused`, with what is typed of it; others may be missing.
 * @throws {SandboxError} for an option that is unknown, or not completed by the bot.
 */
export function halfTypedOptions(
  world: World,
  command: Command,
  input: Pick<CheckedInput<'complete'>, 'subcommand' | 'option' | 'value' | 'options'>,
): readonly InteractionOption[] {
  return inSubcommand(command, input.subcommand, ({ title, registered }) => {
    requireKnown(title, registered, [...Object.keys(input.options), input.option]);
    const others = registered.filter(({ name }) => name !== input.option);
    const focused = registered.flatMap((option) => {
      if (option.name !== input.option) return [];
      if (!('autocomplete' in option && (option.autocomplete ?? false))) {
        throw new SandboxError(`${title} does not complete ${input.option}`);
      }
      return [{ name: option.name, type: option.type, value: input.value, focused: true as const }];
    });
    return [...filledIn(world, title, others, input.options, []), ...focused];
  });
}

interface OptionPlace {
  /** `/memory forget` */
  readonly title: string;
  readonly registered: readonly APIApplicationCommandOption[];
}

/** Puts the options below the subcommand, and that below its group, where the command has some. */
function inSubcommand(
  command: Command,
  subcommand: string | undefined,
  optionsOf: (place: OptionPlace) => readonly InteractionOption[],
): readonly InteractionOption[] {
  const all = subcommandsOf(command);
  if (all.length === 0) {
    if (subcommand !== undefined) throw new SandboxError(`/${command.name} has no subcommands`);
    return optionsOf({ title: `/${command.name}`, registered: command.options });
  }
  const chosen = all.find(({ name, path }) => path === subcommand || name === subcommand);
  if (chosen === undefined) {
    const names = all.map(({ path }) => path).join(', ');
    throw new SandboxError(`/${command.name} has the subcommands ${names}, not ${String(subcommand)}`);
  }
  const { name, group, path, options: registered } = chosen;
  const options = optionsOf({ title: `/${command.name} ${path}`, registered });
  const own = { name, type: Type.Subcommand, options };
  return group === undefined ? [own] : [{ name: group, type: Type.SubcommandGroup, options: [own] }];
}

interface RegisteredSubcommand {
  readonly name: string;
  readonly group?: string;
  /** With its group, as people see it: `data export`. */
  readonly path: string;
  readonly options: readonly APIApplicationCommandOption[];
}

/** The subcommands of a command, those in groups too. */
export function subcommandsOf({ options }: Pick<Command, 'options'>): readonly RegisteredSubcommand[] {
  return options.flatMap((option): readonly RegisteredSubcommand[] => {
    if (option.type === Type.Subcommand)
      return [{ name: option.name, path: option.name, options: option.options ?? [] }];
    if (option.type !== Type.SubcommandGroup) return [];
    return (option.options ?? []).map((each) => ({
      name: each.name,
      group: option.name,
      path: `${option.name} ${each.name}`,
      options: each.options ?? [],
    }));
  });
}

function requireKnown(
  title: string,
  registered: readonly APIApplicationCommandOption[],
  names: readonly string[],
): void {
  const unknown = names.filter((name) => !registered.some((option) => option.name === name));
  if (unknown.length > 0) throw new SandboxError(`${title} has no option ${unknown.join(', ')}`);
}

function filledIn(
  world: World,
  title: string,
  registered: readonly APIApplicationCommandOption[],
  values: OptionValues,
  attachments: readonly Attachment[],
): readonly InteractionOption[] {
  return registered.flatMap((option) => {
    const given = values[option.name];
    if (given === undefined) return [];
    const value = optionValue(world, option, given, attachments);
    if (value === undefined) {
      const taken = choicesText(option);
      throw new SandboxError(`${title} does not take ${JSON.stringify(given)} as ${option.name}${taken}`);
    }
    return [{ name: option.name, type: option.type, value }];
  });
}

/** What an option can be, for the end of a sentence. */
function choicesText(option: APIApplicationCommandOption): string {
  const choices = option.type === Type.String ? (option.choices ?? []) : [];
  return choices.length === 0 ? '' : `: ${choices.map(({ value }) => value).join(', ')}`;
}

/**
 * A value as the gateway carries it, or `undefined` where the option does not take it: a role or person becomes its id, a file that of
 * what was uploaded. A choice is given by its value or its name.
 */
function optionValue(
  world: World,
  option: APIApplicationCommandOption,
  value: string,
  attachments: readonly Attachment[],
): string | undefined {
  if (option.type === Type.Mentionable)
    return knownPerson(world, value)?.id ?? findRole([...world.guilds.values()], value).id;
  if (option.type === Type.Role) return findRole([...world.guilds.values()], value).id;
  if (option.type === Type.Attachment) return attachments.find(({ name }) => name === value)?.id;
  if (option.type !== Type.String) return undefined;
  const { choices, min_length: least = 0, max_length: most = 6_000 } = option;
  const wanted = value.toLowerCase();
  if (choices !== undefined && choices.length > 0)
    return choices.find((each) => [each.value, each.name].some((face) => face.toLowerCase() === wanted))
      ?.value;
  return value.length >= least && value.length <= most ? value : undefined;
}

/** @throws {SandboxError} where the person may not use commands of bots. */
export function requireRightToCommand(world: World, channel: Channel, user: User): void {
  if (may(world, channel, user.id, PermissionFlagsBits.UseApplicationCommands)) return;
  throw new SandboxError(`${user.username} may not use commands in ${titleOf(channel)}`);
}

/**
 * The command of this name that Discord's client offers the person here; a guild's own goes before a global one.
 * @throws {SandboxError} with those that there are, when there is none.
 */
export function offeredCommand(
  world: World,
  channel: Channel,
  user: User,
  type: Command['type'],
  name: string,
): Command {
  const offered = [...world.commands.values()].filter(
    (command) => command.type === type && isOffered(world, command, channel, user),
  );
  const named = offered.filter((command) => command.name === name);
  const found = named.find((command) => command.guildId !== undefined) ?? named[0];
  if (found !== undefined) return found;
  const titles = offered.map((command) => commandTitle(type, command.name)).join(', ');
  throw new SandboxError(
    `The bot offers ${user.username} no command ${commandTitle(type, name)} here (it has: ${titles || 'none'})`,
  );
}

function isOffered(world: World, command: Command, channel: Channel, user: User): boolean {
  const guildId = guildIdOf(channel);
  if (command.guildId !== undefined && command.guildId !== guildId) return false;
  const context = guildId === undefined ? InteractionContextType.BotDM : InteractionContextType.Guild;
  if (command.contexts !== undefined && !command.contexts.includes(context)) return false;
  if (guildId === undefined || command.memberPermissions === undefined) return true;
  // Administrators have every permission, which is how a command for nobody else is asked for.
  const needed =
    command.memberPermissions === 0n ? PermissionFlagsBits.Administrator : command.memberPermissions;
  return may(world, channel, user.id, needed);
}

function commandTitle(type: Command['type'], name: string): string {
  return type === ApplicationCommandType.ChatInput ? `/${name}` : JSON.stringify(name);
}
