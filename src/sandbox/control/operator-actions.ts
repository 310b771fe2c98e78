import { PermissionFlagsBits } from 'discord-api-types/v10';

import { deleteTextChannel, setOverwrite } from '../world/channels.ts';
import type { Overwrite, TextChannel, User } from '../world/entities.ts';
import { addMember, createUser, setRole } from '../world/people.ts';
import { deleteThread } from '../world/threads.ts';
import { guildOf } from '../world/world.ts';
import type { World } from '../world/world.ts';
import { findChannel, findGuild, findPerson, findTextChannel } from './references.ts';
import { SandboxError } from './sandbox-error.ts';

export type PermissionName = keyof typeof PermissionFlagsBits;

export function permissionBits(names: readonly PermissionName[]): bigint {
  return names.reduce((bits, name) => bits | PermissionFlagsBits[name], 0n);
}

/** @throws {SandboxError} when the name or the id is taken. */
export function addPerson(
  world: World,
  input: {
    readonly name: string;
    readonly id?: string | undefined;
    readonly bot: boolean;
    readonly closedDms: boolean;
    readonly guilds?: readonly string[] | undefined;
  },
): User {
  const name = input.name.toLowerCase();
  if (
    [...world.users.values()].some(({ id, username }) => username.toLowerCase() === name || id === input.id)
  ) {
    throw new SandboxError(
      `There already is somebody called ${input.name}, or with the id ${String(input.id)}`,
    );
  }
  const guilds = (input.guilds ?? [undefined]).map((reference) => findGuild(world, reference));
  const user = createUser(world, input);
  for (const guild of guilds) addMember(world, guild.id, user.id);
  return user;
}

interface PermissionChange {
  readonly for: string;
  readonly allow: readonly PermissionName[];
  readonly deny: readonly PermissionName[];
}

/** Sets what a person or a role may do in a channel; a name that both have, as the bot and its role do, means the person. @throws {SandboxError} */
export function overwrite(world: World, input: PermissionChange & { readonly channel: string }): TextChannel {
  const channel = findTextChannel(world, input.channel);
  setOverwrite(world, channel, {
    ...overwriteTarget(world, channel, input.for),
    allow: permissionBits(input.allow),
    deny: permissionBits(input.deny),
  });
  return channel;
}

/** Gives and takes permissions and leaves the others as they are. @throws {SandboxError} */
export function changePermissions(
  world: World,
  input: PermissionChange & { readonly in?: string | undefined; readonly guild?: string | undefined },
): void {
  const allow = permissionBits(input.allow);
  const deny = permissionBits(input.deny);
  if (input.in !== undefined) {
    const channel = findTextChannel(world, input.in);
    const target = overwriteTarget(world, channel, input.for);
    const present = channel.overwrites.get(target.targetId);
    setOverwrite(world, channel, {
      ...target,
      allow: ((present?.allow ?? 0n) | allow) & ~deny,
      deny: ((present?.deny ?? 0n) | deny) & ~allow,
    });
    return;
  }
  const guild = findGuild(world, input.guild);
  const role = [...guild.roles.values()].find(({ id, name }) => id === input.for || name === input.for);
  if (role === undefined) {
    throw new SandboxError(
      `There is no role ${input.for}; people have permissions of their own only in a channel`,
    );
  }
  setRole(world, guild, { name: role.name, permissions: (role.permissions | allow) & ~deny, userIds: [] });
}

function overwriteTarget(
  world: World,
  channel: TextChannel,
  reference: string,
): Pick<Overwrite, 'kind' | 'targetId'> {
  const role = [...guildOf(world, channel.guildId).roles.values()].find(
    ({ id, name }) => id === reference || (name === reference && !isPerson(world, name)),
  );
  return role === undefined
    ? { kind: 'member', targetId: findPerson(world, reference).id }
    : { kind: 'role', targetId: role.id };
}

/** @throws {SandboxError} for a DM, which cannot be deleted. */
export function deleteChannel(world: World, reference: string): void {
  const channel = findChannel(world, reference);
  switch (channel.kind) {
    case 'text':
      deleteTextChannel(world, channel);
      return;
    case 'thread':
      deleteThread(world, channel);
      return;
    case 'dm':
      throw new SandboxError('A DM cannot be deleted');
  }
}

function isPerson(world: World, name: string): boolean {
  return [...world.users.values()].some(({ username }) => username === name);
}
