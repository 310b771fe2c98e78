import type { Guild, GuildEmoji, Member, Role, User } from './entities.ts';
import { botPermissions, everyonePermissions } from './permissions.ts';
import { guildOf, type World } from './world.ts';

export function createUser(
  world: World,
  input: { readonly name: string; readonly id?: string | undefined } & Partial<Omit<User, 'id'>>,
): User {
  const user: User = {
    id: input.id ?? world.nextId(),
    username: input.name,
    bot: input.bot ?? false,
    closedDms: input.closedDms ?? false,
  };
  world.users.set(user.id, user);
  return user;
}

/** A guild with its owner and the bot in it, the role @everyone, and the bot's own role. */
export function createGuild(
  world: World,
  input: {
    readonly name: string;
    readonly ownerId: string;
    readonly id?: string;
    readonly botRoleId?: string;
  },
): Guild {
  const id = input.id ?? world.nextId();
  const createdAt = world.now().toISOString();
  const botRole: Role = {
    id: input.botRoleId ?? world.nextId(),
    name: world.application.name,
    permissions: botPermissions,
    position: 1,
    managed: true,
    botId: world.botId,
  };
  const everyone: Role = {
    id,
    name: '@everyone',
    permissions: everyonePermissions,
    position: 0,
    managed: false,
  };
  const guild: Guild = {
    id,
    name: input.name,
    ownerId: input.ownerId,
    emojis: new Map(),
    roles: new Map([everyone, botRole].map((role) => [role.id, role])),
    members: new Map([
      [input.ownerId, { userId: input.ownerId, roleIds: new Set(), joinedAt: createdAt }],
      [world.botId, { userId: world.botId, roleIds: new Set([botRole.id]), joinedAt: createdAt }],
    ]),
    createdAt,
  };
  world.guilds.set(id, guild);
  world.emit({ type: 'guild-created', guild });
  return guild;
}

/** Takes a user into a guild; already there is fine. */
export function addMember(world: World, guildId: string, userId: string): Member {
  const guild = guildOf(world, guildId);
  const present = guild.members.get(userId);
  if (present !== undefined) return present;
  const member: Member = { userId, roleIds: new Set(), joinedAt: world.now().toISOString() };
  guild.members.set(userId, member);
  world.emit({ type: 'member-added', guildId, member });
  return member;
}

/** Takes the bot out of a guild, or back into it with the role that it had. Already so is fine. */
export function setBotMembership(world: World, guild: Guild, isMember: boolean): void {
  if (guild.members.has(world.botId) === isMember) return;
  if (!isMember) {
    guild.members.delete(world.botId);
    world.emit({ type: 'guild-left', guild });
    return;
  }
  const roleIds = [...guild.roles.values()].filter(({ managed }) => managed).map(({ id }) => id);
  guild.members.set(world.botId, {
    userId: world.botId,
    roleIds: new Set(roleIds),
    joinedAt: world.now().toISOString(),
  });
  world.emit({ type: 'guild-created', guild });
}

/** Creates a role, or changes the permissions of the one with this name, and gives it to the users. */
export function setRole(
  world: World,
  guild: Guild,
  input: { readonly name: string; readonly permissions: bigint; readonly userIds: readonly string[] },
): Role {
  let role = [...guild.roles.values()].find(({ name }) => name === input.name);
  if (role === undefined) {
    role = {
      id: world.nextId(),
      name: input.name,
      permissions: input.permissions,
      position: guild.roles.size,
      managed: false,
    };
    guild.roles.set(role.id, role);
    world.emit({ type: 'role-created', guildId: guild.id, role });
  } else {
    role.permissions = input.permissions;
    world.emit({ type: 'role-updated', guildId: guild.id, role });
  }
  for (const userId of input.userIds) {
    const member = guild.members.get(userId);
    if (member === undefined || member.roleIds.has(role.id)) continue;
    member.roleIds.add(role.id);
    world.emit({ type: 'member-updated', guildId: guild.id, member });
  }
  return role;
}

/** Takes a role from the users who have it. */
export function takeRole(world: World, guild: Guild, role: Role, userIds: readonly string[]): void {
  for (const userId of userIds) {
    const member = guild.members.get(userId);
    if (member?.roleIds.delete(role.id) === true)
      world.emit({ type: 'member-updated', guildId: guild.id, member });
  }
}

/** Deletes a role with what it gave and took; Discord tells of no more than that the role is gone. */
export function deleteRole(world: World, guild: Guild, role: Role): void {
  guild.roles.delete(role.id);
  for (const { roleIds } of guild.members.values()) roleIds.delete(role.id);
  for (const channel of world.channels.values())
    if (channel.kind === 'text' && channel.guildId === guild.id) channel.overwrites.delete(role.id);
  world.emit({ type: 'role-deleted', guildId: guild.id, role });
}

/** Gives a guild an emoji of its own. */
export function addEmoji(world: World, guild: Guild, name: string): GuildEmoji {
  const emoji = { id: world.nextId(), name };
  guild.emojis.set(emoji.id, emoji);
  return emoji;
}
