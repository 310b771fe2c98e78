import { ApplicationCommandOptionType as Type } from 'discord-api-types/v10';
import type { APIApplicationCommandOption } from 'discord-api-types/v10';

import type { World } from '../world/world.ts';
import { findChannel, findPerson } from './references.ts';

type Value = string | number | boolean;

/**
 * A value as the gateway carries it, or `undefined` where the option does not take it: a user or a channel becomes its id.
 * @throws {SandboxError} for a user or a channel that does not exist.
 */
export function optionValue(
  world: World,
  option: APIApplicationCommandOption,
  value: Value,
): Value | undefined {
  switch (option.type) {
    case Type.String:
      return isChoice(option.choices, value) && isOfLength(option, value) ? value : undefined;
    case Type.Integer:
      return Number.isInteger(value) && isChoice(option.choices, value) && isWithin(option, value)
        ? value
        : undefined;
    case Type.Number:
      return typeof value === 'number' && isChoice(option.choices, value) && isWithin(option, value)
        ? value
        : undefined;
    case Type.Boolean:
      return typeof value === 'boolean' ? value : undefined;
    case Type.User:
      return typeof value === 'string' ? findPerson(world, value).id : undefined;
    case Type.Channel:
      return typeof value === 'string' ? findChannel(world, value).id : undefined;
    // Discord's client has pickers for these; the sandbox has none.
    case Type.Role:
    case Type.Mentionable:
    case Type.Attachment:
    case Type.Subcommand:
    case Type.SubcommandGroup:
      return undefined;
  }
}

function isChoice(choices: readonly { readonly value: Value }[] | undefined, value: Value): boolean {
  return choices === undefined || choices.length === 0 || choices.some((choice) => choice.value === value);
}

function isOfLength(
  option: { readonly min_length?: number; readonly max_length?: number },
  value: Value,
): boolean {
  if (typeof value !== 'string') return false;
  return value.length >= (option.min_length ?? 0) && value.length <= (option.max_length ?? 6_000);
}

function isWithin(
  option: { readonly min_value?: number; readonly max_value?: number },
  value: Value,
): boolean {
  if (typeof value !== 'number') return false;
  return value >= (option.min_value ?? -Infinity) && value <= (option.max_value ?? Infinity);
}
