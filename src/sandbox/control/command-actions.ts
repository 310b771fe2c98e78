import { randomBytes } from 'node:crypto';

import { ApplicationCommandType } from 'discord-api-types/v10';

import type { Channel, Interaction, InteractionRequest, User } from '../world/entities.ts';
import { createInteraction } from '../world/interactions.ts';
import { memberOf, channelOf, guildIdOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { offeredCommand, requireRightToCommand } from './offered-commands.ts';
import { requireRightToWrite, requireView, titleOf } from './rights.ts';
import { findChannel, findMessageById, findPerson } from './references.ts';
import { SandboxError } from './sandbox-error.ts';
import { halfTypedOptions, slashOptions } from './slash-options.ts';
import type { OptionValues } from './slash-options.ts';

export interface SlashCall {
  readonly as: string;
  readonly in: string;
  readonly name: string;
  readonly subcommand?: string | undefined;
  readonly options: OptionValues;
}

/** A person gives a slash command. @throws {SandboxError} where Discord's client would not offer it. */
export function slash(world: World, input: SlashCall): Interaction {
  const { user, channel } = whoAndWhere(world, input);
  const command = offeredCommand(world, channel, user, ApplicationCommandType.ChatInput, input.name);
  const options = slashOptions(world, command, input.subcommand, input.options);
  return ask(world, channel, user, { kind: 'slash', command, options });
}

export interface HalfTyped extends SlashCall {
  readonly option: string;
  readonly value: string;
}

/** A person is typing an option whose values the bot completes. @throws {SandboxError} where Discord would not ask the bot. */
export function complete(world: World, input: HalfTyped): Interaction {
  const { user, channel } = whoAndWhere(world, input);
  const command = offeredCommand(world, channel, user, ApplicationCommandType.ChatInput, input.name);
  const options = halfTypedOptions(world, command, input);
  return ask(world, channel, user, { kind: 'complete', command, options });
}

export interface MenuCall {
  readonly as: string;
  readonly name: string;
  readonly message?: string | undefined;
  readonly person?: string | undefined;
  readonly in?: string | undefined;
}

/** A person gives a command from the menu of a message or of a person. @throws {SandboxError} where Discord would not offer it. */
export function menu(world: World, input: MenuCall): Interaction {
  const user = findPerson(world, input.as);
  if (input.message !== undefined) {
    const message = findMessageById(world, input.message);
    const channel = channelOf(world, message.channelId);
    requireView(world, channel, user);
    requireRightToCommand(world, channel, user);
    const command = offeredCommand(world, channel, user, ApplicationCommandType.Message, input.name);
    return ask(world, channel, user, { kind: 'message-menu', command, message });
  }
  const channel = findChannel(world, input.in ?? 'dm', user);
  requireView(world, channel, user);
  requireRightToCommand(world, channel, user);
  const target = findPerson(world, input.person ?? input.as);
  requirePresence(world, channel, target);
  const command = offeredCommand(world, channel, user, ApplicationCommandType.User, input.name);
  return ask(world, channel, user, { kind: 'user-menu', command, targetId: target.id });
}

/** Puts a request before the bot. */
export function ask(world: World, channel: Channel, user: User, request: InteractionRequest): Interaction {
  const token = randomBytes(48).toString('base64url');
  return createInteraction(world, { channel, userId: user.id, request, token });
}

function whoAndWhere(world: World, input: SlashCall): { readonly user: User; readonly channel: Channel } {
  const user = findPerson(world, input.as);
  const channel = findChannel(world, input.in, user);
  // A slash command is typed where messages are.
  requireRightToWrite(world, channel, user);
  requireRightToCommand(world, channel, user);
  return { user, channel };
}

function requirePresence(world: World, channel: Channel, target: User): void {
  const guildId = guildIdOf(channel);
  const isHere =
    guildId === undefined
      ? target.id === world.botId || (channel.kind === 'dm' && channel.personId === target.id)
      : memberOf(world, guildId, target.id) !== undefined;
  if (!isHere) throw new SandboxError(`${target.username} is not in ${titleOf(channel)}`);
}
