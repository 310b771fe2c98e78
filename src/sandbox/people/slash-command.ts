import {
  ApplicationCommandOptionType as Type,
  ApplicationCommandType,
  ApplicationIntegrationType,
  PermissionFlagsBits,
  type APIApplicationCommandOption,
  type APIApplicationCommandSubcommandOption,
} from 'discord-api-types/v10';

import { contextOf, isBotIn } from '../payloads/interaction-payload.ts';
import type { Attachment, Channel, Command, InteractionOption, User } from '../world/entities.ts';
import { may } from '../world/permissions.ts';
import { guildIdOf, SandboxError, type World } from '../world/world.ts';
import { findRole, knownPerson, requirePermission } from './references.ts';

/** By the option's name what is written for it: a role or person by name or id, a file by its name. */
export type OptionValues = Readonly<Record<string, string>>;

/** The subcommands of a command, those in groups too. */
export function subcommandsOf({ options }: Pick<Command, 'options'>) {
  return options.flatMap((option) => {
    if (option.type === Type.Subcommand) return [below(option)];
    if (option.type !== Type.SubcommandGroup) return [];
    return (option.options ?? []).map((each) => below(each, option.name));
  });
}

function below({ name, options = [] }: APIApplicationCommandSubcommandOption, group?: string) {
  /** As people see it: `data export`. */
  const path = group === undefined ? name : `${group} ${name}`;
  return { name, group, path, options };
}

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
  return inSubcommand(command, subcommand, (title, registered) => {
    const missing = registered.find(({ name, required }) => required === true && values[name] === undefined);
    if (missing !== undefined)
      throw new SandboxError(`${title} needs the option ${missing.name}${choicesText(missing)}`);
    return filledIn(world, title, registered, values, attachments);
  });
}

/** Puts the options below the subcommand, and that below its group, where the command has some. */
export function inSubcommand(
  command: Command,
  subcommand: string | undefined,
  /** `title` as in `/memory forget`. */
  optionsOf: (
    title: string,
    registered: readonly APIApplicationCommandOption[],
  ) => readonly InteractionOption[],
): readonly InteractionOption[] {
  const all = subcommandsOf(command);
  if (all.length === 0) return optionsOf(`/${command.name}`, command.options);
  const chosen = all.find(({ name, path }) => path === subcommand || name === subcommand);
  if (chosen === undefined) {
    const names = all.map(({ path }) => path).join(', ');
    throw new SandboxError(`/${command.name} has the subcommands ${names}, not ${String(subcommand)}`);
  }
  const { name, group, path, options: registered } = chosen;
  const options = optionsOf(`/${command.name} ${path}`, registered);
  const own = { name, type: Type.Subcommand, options };
  return group === undefined ? [own] : [{ name: group, type: Type.SubcommandGroup, options: [own] }];
}

/** The options for which something is written. @throws {SandboxError} */
export function filledIn(
  world: World,
  title: string,
  registered: readonly APIApplicationCommandOption[],
  values: OptionValues,
  attachments: readonly Attachment[],
): readonly InteractionOption[] {
  return Object.entries(values).map(([name, written]) => {
    const option = registered.find((candidate) => candidate.name === name);
    if (option === undefined) throw new SandboxError(`${title} has no option ${name}`);
    const value = optionValue(world, option, written, attachments);
    if (value === undefined) {
      const taken = choicesText(option);
      throw new SandboxError(`${title} does not take ${JSON.stringify(written)} as ${name}${taken}`);
    }
    return { name, type: option.type, value };
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
  if (option.type === Type.Mentionable || option.type === Type.Role) {
    const person = option.type === Type.Mentionable ? knownPerson(world, value) : undefined;
    return person?.id ?? findRole([...world.guilds.values()], value).id;
  }
  if (option.type === Type.Attachment) return attachments.find(({ name }) => name === value)?.id;
  if (option.type !== Type.String) return undefined;
  const { choices = [], min_length: least = 0, max_length: most = 6_000 } = option;
  const needle = value.toLowerCase();
  const choice = choices.find((each) =>
    [each.value, each.name].some((face) => face.toLowerCase() === needle),
  );
  if (choices.length > 0) return choice?.value;
  return value.length >= least && value.length <= most ? value : undefined;
}

/**
 * The command of this name that Discord's client offers the person here.
 * @throws {SandboxError} with those that there are, when there is none, and where the person may not use commands of bots.
 */
export function offeredCommand(
  world: World,
  channel: Channel,
  user: User,
  type: Command['type'],
  name: string,
): Command {
  requirePermission(world, channel, user, 'UseApplicationCommands');
  const offered = [...world.commands.values()].filter(
    (command) => command.type === type && isOffered(world, command, channel, user),
  );
  const found = offered.find((command) => command.name === name);
  if (found !== undefined) return found;
  const title = (of: string) => (type === ApplicationCommandType.ChatInput ? `/${of}` : JSON.stringify(of));
  const titles = offered.map((command) => title(command.name)).join(', ');
  throw new SandboxError(
    `The bot offers ${user.username} no command ${title(name)} here (it has: ${titles || 'none'})`,
  );
}

function isOffered(world: World, command: Command, channel: Channel, user: User): boolean {
  const guildId = guildIdOf(channel);
  if (command.contexts?.includes(contextOf(channel)) === false) return false;
  const { GuildInstall, UserInstall } = ApplicationIntegrationType;
  const { installations = [GuildInstall] } = command;
  if (!isBotIn(world, channel)) return installations.includes(UserInstall);
  if (guildId === undefined || command.memberPermissions === undefined) return true;
  // Administrators have every permission, which is how a command for nobody else is asked for.
  return may(world, channel, user.id, command.memberPermissions || PermissionFlagsBits.Administrator);
}
