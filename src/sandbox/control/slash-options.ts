import { ApplicationCommandOptionType } from 'discord-api-types/v10';
import type { APIApplicationCommandOption } from 'discord-api-types/v10';

import type { Command, InteractionOption } from '../world/entities.ts';
import type { World } from '../world/world.ts';
import { optionValue } from './option-value.ts';
import { SandboxError } from './sandbox-error.ts';

export type OptionValues = Readonly<Record<string, string | number | boolean>>;

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
): readonly InteractionOption[] {
  return inSubcommand(command, subcommand, ({ title, registered }) => {
    requireKnown(title, registered, Object.keys(values));
    const missing = registered.find(({ name, required }) => required === true && values[name] === undefined);
    if (missing !== undefined) {
      const choices = 'choices' in missing ? (missing.choices ?? []).map(({ value }) => value) : [];
      const offered = choices.length === 0 ? '' : `: ${choices.join(', ')}`;
      throw new SandboxError(`${title} needs the option ${missing.name}${offered}`);
    }
    return filledIn(world, title, registered, values);
  });
}

/**
 * The options while one is being typed: that one is `focused`, with what is typed of it; others may be missing.
 * @throws {SandboxError} for an option that is unknown, or not completed by the bot.
 */
export function halfTypedOptions(
  world: World,
  command: Command,
  input: {
    readonly subcommand?: string | undefined;
    readonly option: string;
    readonly value: string;
    readonly options: OptionValues;
  },
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
    return [...filledIn(world, title, others, input.options), ...focused];
  });
}

interface OptionPlace {
  /** `/memory forget` */
  readonly title: string;
  readonly registered: readonly APIApplicationCommandOption[];
}

/** Puts the options below the subcommand, where the command has some. */
function inSubcommand(
  command: Command,
  subcommand: string | undefined,
  optionsOf: (place: OptionPlace) => readonly InteractionOption[],
): readonly InteractionOption[] {
  const subcommands = command.options.filter(({ type }) => type === ApplicationCommandOptionType.Subcommand);
  if (subcommands.length === 0) {
    if (subcommand !== undefined) throw new SandboxError(`/${command.name} has no subcommands`);
    return optionsOf({ title: `/${command.name}`, registered: command.options });
  }
  const chosen = subcommands.find(({ name }) => name === subcommand);
  if (chosen === undefined) {
    const names = subcommands.map(({ name }) => name).join(', ');
    throw new SandboxError(`/${command.name} has the subcommands ${names}, not ${String(subcommand)}`);
  }
  const registered = 'options' in chosen ? (chosen.options ?? []) : [];
  return [
    {
      name: chosen.name,
      type: ApplicationCommandOptionType.Subcommand,
      options: optionsOf({ title: `/${command.name} ${chosen.name}`, registered }),
    },
  ];
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
): readonly InteractionOption[] {
  return registered.flatMap((option) => {
    const given = values[option.name];
    if (given === undefined) return [];
    const value = optionValue(world, option, given);
    if (value === undefined) {
      throw new SandboxError(`${title} does not take ${JSON.stringify(given)} as ${option.name}`);
    }
    return [{ name: option.name, type: option.type, value }];
  });
}
