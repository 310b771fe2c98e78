import { PermissionFlagsBits } from 'discord-api-types/v10';

import { openDm } from '../world/guilds.ts';
import type { Channel, Guild, Message, Role, User } from '../world/entities.ts';
import { findMessageAnywhere } from '../world/messages.ts';
import { canSend, canView, isLockedFor, may } from '../world/permissions.ts';
import { channelOf, SandboxError, type World } from '../world/world.ts';

/** A user by name, whatever the case and with or without `@`, or by id. @throws {SandboxError} */
export function findPerson(world: World, reference: string): User {
  const found = knownPerson(world, reference);
  if (found !== undefined) return found;
  const names = Array.from(world.users.values(), ({ username }) => username);
  throw new SandboxError(`Nobody is called ${JSON.stringify(reference)}; there are ${names.join(', ')}`);
}

export function knownPerson({ users }: World, reference: string): User | undefined {
  const name = reference.replace(/^@/, '').toLowerCase();
  return users.get(reference) ?? [...users.values()].find(({ username }) => username.toLowerCase() === name);
}

/**
 * A channel by id, by name in any case (`#dev`, `dev`, a thread's name), `@alice` for Alice's DM with the bot, `dm` for the speaker's.
 * @throws {SandboxError} when there is none, or several have the name.
 */
export function findChannel(world: World, reference: string, speaker?: User): Channel {
  const byId = world.channels.get(reference);
  if (byId !== undefined) return byId;
  if (reference.startsWith('@')) return dmOf(world, findPerson(world, reference));
  if (reference === 'dm') {
    if (speaker === undefined) throw new SandboxError('Whose DM? Write @ and the name');
    return dmOf(world, speaker);
  }
  const name = reference.replace(/^#/, '').toLowerCase();
  const all = [...world.channels.values()].flatMap((channel) => (channel.kind === 'dm' ? [] : [channel]));
  const named = all.filter((channel) => channel.name.toLowerCase() === name);
  const [only] = named;
  if (only === undefined) {
    const seen = all.filter((channel) => speaker === undefined || canView(world, channel, speaker.id));
    const titles = [...seen.map((channel) => `#${channel.name}`), 'dm'].join(', ');
    throw new SandboxError(`There is no channel ${JSON.stringify(reference)}; there are ${titles}`);
  }
  if (named.length > 1) {
    const ids = named.map(({ id }) => id).join(', ');
    throw new SandboxError(`Several channels are called ${JSON.stringify(reference)}; use an id: ${ids}`);
  }
  return only;
}

/** A role by id or name, with or without `@`. @throws {SandboxError} when there is none, or several have the name. */
export function findRole(guilds: readonly Guild[], reference: string): Role {
  const roles = guilds.flatMap((guild) => [...guild.roles.values()]);
  const byId = roles.find(({ id }) => id === reference);
  if (byId !== undefined) return byId;
  const [only, ...others] = roles.filter(({ name }) => name === reference || `@${name}` === reference);
  if (only === undefined) throw new SandboxError(`There is no role ${JSON.stringify(reference)}`);
  if (others.length > 0) throw new SandboxError(`Several roles are called ${JSON.stringify(reference)}`);
  return only;
}

/** A message by its id. @throws {SandboxError} when it does not exist, or not any more. */
export function findMessageById(world: World, id: string): Message {
  const message = findMessageAnywhere(world, id);
  if (message === undefined) throw new SandboxError(`There is no message ${id}`);
  return message;
}

function dmOf(world: World, person: User): Channel {
  if (person.bot) throw new SandboxError(`${person.username} is a bot; bots have no DM with each other`);
  return openDm(world, person.id);
}

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

function titleOf(channel: Channel): string {
  return channel.kind === 'dm' ? 'this DM' : `#${channel.name}`;
}

/** A message that the person sees, even if nobody else does. @throws {SandboxError} */
export function visibleMessage(world: World, user: User, id: string): Message {
  const ephemeral = world.ephemerals.get(id);
  if (ephemeral !== undefined && ephemeral.viewerId !== user.id) {
    throw new SandboxError(`${user.username} does not see message ${id}: it is for somebody else alone`);
  }
  const message = ephemeral ?? findMessageAnywhere(world, id);
  if (message === undefined) throw new SandboxError(`There is no message ${id}`);
  requireView(world, channelOf(world, message.channelId), user);
  return message;
}
