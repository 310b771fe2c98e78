import { ApplicationCommandType, InteractionContextType, PermissionFlagsBits } from 'discord-api-types/v10';

import type { Channel, Command, User } from '../world/entities.ts';
import { may } from '../world/permissions.ts';
import { guildIdOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { titleOf } from './rights.ts';
import { SandboxError } from './sandbox-error.ts';

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
  type: ApplicationCommandType,
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

function commandTitle(type: ApplicationCommandType, name: string): string {
  return type === ApplicationCommandType.ChatInput ? `/${name}` : JSON.stringify(name);
}
