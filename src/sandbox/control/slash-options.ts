import { ApplicationCommandOptionType } from 'discord-api-types/v10';
import type { APIApplicationCommandOption } from 'discord-api-types/v10';

import type { Command, InteractionOption } from '../world/entities.ts';
import { SandboxError } from './sandbox-error.ts';

type OptionValues = Readonly<Record<string, string | number | boolean>>;

/**
 * The options of a slash command as the gateway carries them, checked against how the bot registered it, as Discord's
 * client does before it sends anything.
 * @throws {SandboxError} for an unknown or missing subcommand or option, or a value of the wrong kind.
 */
export function slashOptions(
  command: Command,
  subcommand: string | undefined,
  values: OptionValues,
): readonly InteractionOption[] {
  const subcommands = command.options.filter(({ type }) => type === ApplicationCommandOptionType.Subcommand);
  if (subcommands.length === 0) {
    if (subcommand !== undefined) throw new SandboxError(`/${command.name} has no subcommands`);
    return plainOptions(`/${command.name}`, command.options, values);
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
      options: plainOptions(`/${command.name} ${chosen.name}`, registered, values),
    },
  ];
}

function plainOptions(
  title: string,
  registered: readonly APIApplicationCommandOption[],
  values: OptionValues,
): readonly InteractionOption[] {
  const unknown = Object.keys(values).filter((name) => !registered.some((option) => option.name === name));
  if (unknown.length > 0) throw new SandboxError(`${title} has no option ${unknown.join(', ')}`);
  return registered.flatMap((option) => {
    const value = values[option.name];
    if (value === undefined) {
      if (option.required === true) throw new SandboxError(`${title} needs the option ${option.name}`);
      return [];
    }
    if (!fits(option, value))
      throw new SandboxError(`${title} does not take ${JSON.stringify(value)} as ${option.name}`);
    return [{ name: option.name, type: option.type, value }];
  });
}

function fits(option: APIApplicationCommandOption, value: string | number | boolean): boolean {
  if (
    'choices' in option &&
    option.choices !== undefined &&
    !option.choices.some((choice) => choice.value === value)
  ) {
    return false;
  }
  if (option.type === ApplicationCommandOptionType.Integer) return Number.isInteger(value);
  if (option.type === ApplicationCommandOptionType.Number) return typeof value === 'number';
  if (option.type === ApplicationCommandOptionType.Boolean) return typeof value === 'boolean';
  return typeof value === 'string';
}
