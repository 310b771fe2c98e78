import { PermissionFlagsBits } from 'discord-api-types/v10';

import type { Channel, User } from '../world/entities.ts';
import { canSend, canView, isLockedFor, may } from '../world/permissions.ts';
import type { World } from '../world/world.ts';
import { SandboxError } from './sandbox-error.ts';

/** @throws {SandboxError} when the person cannot see the channel. */
export function requireView(world: World, channel: Channel, user: User): void {
  if (canView(world, channel, user.id)) return;
  throw new SandboxError(`${user.username} cannot see ${titleOf(channel)}`);
}

/** @throws {SandboxError} when the person lacks a permission in the channel. */
export function requirePermission(
  world: World,
  channel: Channel,
  user: User,
  permission: keyof typeof PermissionFlagsBits,
): void {
  if (may(world, channel, user.id, PermissionFlagsBits[permission])) return;
  throw new SandboxError(`${user.username} lacks ${permission} in ${titleOf(channel)}`);
}

/** @throws {SandboxError} when the person cannot see the channel, or may not write there. */
export function requireRightToWrite(world: World, channel: Channel, user: User): void {
  requireView(world, channel, user);
  if (!canSend(world, channel, user.id)) {
    throw new SandboxError(`${user.username} may not write in ${titleOf(channel)}`);
  }
}

/** @throws {SandboxError} when the channel is a thread that was put away, or that is locked for the person. */
export function requireOpen(world: World, channel: Channel, user: User): void {
  const isClosed = channel.kind === 'thread' && channel.archived;
  if (!isClosed && !isLockedFor(world, channel, user.id)) return;
  throw new SandboxError(`${titleOf(channel)} is ${isClosed ? 'put away' : 'locked'}`);
}

export function titleOf(channel: Channel): string {
  return channel.kind === 'dm' ? 'this DM' : `#${channel.name}`;
}
