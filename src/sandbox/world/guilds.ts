import { ChannelType, PermissionFlagsBits } from 'discord-api-types/v10';

import type { DmChannel, Guild, Member, Role, TextChannel, ThreadChannel } from './entities.ts';
import { botPermissions, canView, everyonePermissions } from './permissions.ts';
import { guildOf, type World } from './world.ts';

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

interface NewTextChannel {
  readonly guildId: string;
  readonly name: string;
  readonly type?: ChannelType;
  readonly ageRestricted?: boolean;
  /** Hidden from @everyone; seen by these users and the bot. */
  readonly onlyFor?: readonly string[] | undefined;
  readonly id?: string;
}

export function createTextChannel(world: World, input: NewTextChannel): TextChannel {
  const channel: TextChannel = {
    kind: 'text',
    id: input.id ?? world.nextId(),
    guildId: input.guildId,
    name: input.name,
    type: input.type ?? ChannelType.GuildText,
    ageRestricted: input.ageRestricted ?? false,
    position: [...world.channels.values()].filter(({ kind }) => kind === 'text').length,
    overwrites: new Map(),
  };
  if (input.onlyFor !== undefined) hideFromOthers(world, channel, input.onlyFor);
  world.channels.set(channel.id, channel);
  world.emit({ type: 'channel-created', channel });
  return channel;
}

/** Hides a channel from @everyone, except these users and the bot. Tells nobody of it yet. */
export function hideFromOthers(world: World, channel: TextChannel, userIds: readonly string[]): void {
  const view = PermissionFlagsBits.ViewChannel;
  channel.overwrites.set(channel.guildId, { targetId: channel.guildId, kind: 'role', allow: 0n, deny: view });
  for (const targetId of new Set([world.botId, ...userIds])) {
    channel.overwrites.set(targetId, { targetId, kind: 'member', allow: view, deny: 0n });
  }
}

/**
 * The DM between the bot and a person, opened at first use, with this id where one is given. Discord announces it to a bot
 * only by its first message.
 */
export function openDm(world: World, personId: string, id?: string): DmChannel {
  for (const channel of world.channels.values()) {
    if (channel.kind === 'dm' && channel.personId === personId && channel.others === undefined)
      return channel;
  }
  const channel: DmChannel = { kind: 'dm', id: id ?? world.nextId(), personId };
  world.channels.set(channel.id, channel);
  return channel;
}

/** Puts a thread away, or opens it again; already so is fine. */
export function setArchived(world: World, thread: ThreadChannel, archived: boolean): void {
  if (thread.archived === archived) return;
  thread.archived = archived;
  thread.archiveChangedAt = world.now().toISOString();
  world.emit({ type: 'thread-updated', thread });
}

/** Adds a member of the guild to a thread; already in it is fine. */
export function joinThread(world: World, thread: ThreadChannel, userId: string): void {
  if (thread.members.has(userId) || !world.guilds.get(thread.guildId)?.members.has(userId)) return;
  thread.members.set(userId, world.now().toISOString());
  world.emit({ type: 'thread-joined', thread, userId });
}

/** The threads of a guild that are not put away and that the bot can view. */
export function activeThreads(world: World, guildId: string): readonly ThreadChannel[] {
  return [...world.channels.values()].flatMap((channel) =>
    channel.kind === 'thread' &&
    channel.guildId === guildId &&
    !channel.archived &&
    canView(world, channel, world.botId)
      ? [channel]
      : [],
  );
}
