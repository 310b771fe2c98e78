import { ChannelType, PermissionFlagsBits } from 'discord-api-types/v10';

import {
  findChannel,
  findMessageById,
  findPerson,
  findRole,
  knownPerson,
} from '../../../src/sandbox/people/references.ts';
import { written, type Writing } from '../../../src/sandbox/people/people.ts';
import { channelView, messageView, personView } from '../../../src/sandbox/people/views.ts';
import {
  addMember,
  createGuild,
  createTextChannel,
  hideFromOthers,
  joinThread,
  setArchived,
} from '../../../src/sandbox/world/guilds.ts';
import type { Guild, Role, TextChannel, ThreadChannel } from '../../../src/sandbox/world/entities.ts';
import { mentionsIn } from '../../../src/sandbox/world/mentions.ts';
import { createMessage } from '../../../src/sandbox/world/messages.ts';
import { addThread, createThread } from '../../../src/sandbox/world/threads.ts';
import { guildOf, SandboxError, type World } from '../../../src/sandbox/world/world.ts';

type Permission = keyof typeof PermissionFlagsBits;

const channelTypes = {
  text: ChannelType.GuildText,
  voice: ChannelType.GuildVoice,
  stage: ChannelType.GuildStageVoice,
  forum: ChannelType.GuildForum,
} as const;

/** What an operator changes: people, guilds, roles, channels, threads and permissions. */
export function operatorCalls(world: World) {
  const idsOf = (people: readonly string[] = []) => people.map((name) => findPerson(world, name).id);
  const guildCalled = (reference?: string) => findGuild(world, reference);
  const channelCalled = (reference: string) => findTextChannel(world, reference);
  const threadCalled = (reference: string) => findThread(world, reference);
  return {
    /** A person in these guilds, by name or id; in the first one if not said. */
    addPerson: async (input: {
      readonly name: string;
      readonly id?: string;
      readonly bot?: boolean;
      readonly closedDms?: boolean;
      readonly guilds?: readonly string[];
    }) => {
      if (knownPerson(world, input.name) !== undefined)
        throw new SandboxError(`There already is somebody called ${input.name}`);
      const { id = world.nextId(), name, bot = false, closedDms = false } = input;
      const user = { id, username: name, bot, closedDms };
      world.users.set(id, user);
      for (const guild of input.guilds ?? [undefined]) addMember(world, guildCalled(guild).id, id);
      return personView(user);
    },
    /** A person who refuses DMs lets the bot run into error 50007. */
    closeDms: async ({ person, closed }: { readonly person: string; readonly closed: boolean }) => {
      findPerson(world, person).closedDms = closed;
    },
    addGuild: async (input: {
      readonly name: string;
      readonly owner: string;
      readonly members?: readonly string[];
    }) => {
      const ownerId = findPerson(world, input.owner).id;
      const guild = createGuild(world, { name: input.name, ownerId });
      for (const id of idsOf(input.members)) addMember(world, guild.id, id);
      return { id: guild.id, name: guild.name };
    },
    /** Takes the bot out of a guild, as a kick does, or back into it with the role that it had. */
    setBotMembership: async (input: { readonly guild?: string; readonly isMember: boolean }) => {
      const guild = guildCalled(input.guild);
      if (guild.members.has(world.botId) === input.isMember) return;
      if (!input.isMember) {
        guild.members.delete(world.botId);
        world.emit({ type: 'guild-left', guild });
        return;
      }
      const managed = [...guild.roles.values()].filter((role) => role.managed);
      guild.members.set(world.botId, {
        userId: world.botId,
        roleIds: new Set(managed.map(({ id }) => id)),
        joinedAt: world.now().toISOString(),
      });
      world.emit({ type: 'guild-created', guild });
    },
    /** A DM of people without the bot; of more than two a group. */
    addDm: async (input: { readonly people: readonly string[] }) => {
      const [personId = '', ...others] = idsOf(input.people);
      const channel = { kind: 'dm', id: world.nextId(), personId, others } as const;
      world.channels.set(channel.id, channel);
      return channelView(world, channel);
    },
    /** Tells the bot that a guild has an outage, or that it is over. Its messages still come. */
    setGuildAvailability: async (input: { readonly guild?: string; readonly available: boolean }) =>
      world.emit({
        type: input.available ? 'guild-created' : 'guild-unavailable',
        guild: guildCalled(input.guild),
      }),
    /** Creates a role or changes its permissions, `@everyone` and the bot's own included, and gives it to people. */
    setRole: async (input: {
      readonly guild?: string;
      readonly name: string;
      readonly permissions?: readonly Permission[];
      readonly people?: readonly string[];
    }) => {
      const { name, permissions = [], people } = input;
      return { id: setRole(world, guildCalled(input.guild), name, bitsOf(permissions), idsOf(people)).id };
    },
    takeRole: async (input: {
      readonly guild?: string;
      readonly role: string;
      readonly people: readonly string[];
    }) => {
      const guild = guildCalled(input.guild);
      const role = findRole([guild], input.role);
      for (const id of idsOf(input.people)) {
        const member = guild.members.get(id);
        if (member?.roleIds.delete(role.id) === true)
          world.emit({ type: 'member-updated', guildId: guild.id, member });
      }
    },
    /** Deletes a role with what it gave and took; Discord tells of no more than that the role is gone. */
    deleteRole: async (input: { readonly guild?: string; readonly role: string }) => {
      const guild = guildCalled(input.guild);
      const role = findRole([guild], input.role);
      guild.roles.delete(role.id);
      for (const { roleIds } of guild.members.values()) roleIds.delete(role.id);
      for (const channel of world.channels.values())
        if (channel.kind === 'text' && channel.guildId === guild.id) channel.overwrites.delete(role.id);
      world.emit({ type: 'role-deleted', guildId: guild.id, role });
    },
    /** Gives and takes permissions of a role in its guild, and leaves the others. */
    changePermissions: async (input: {
      readonly for: string;
      readonly guild?: string;
      readonly allow?: readonly Permission[];
      readonly deny?: readonly Permission[];
    }) => {
      const guild = guildCalled(input.guild);
      const role = findRole([guild], input.for);
      const permissions = (role.permissions | bitsOf(input.allow)) & ~bitsOf(input.deny);
      setRole(world, guild, role.name, permissions, []);
    },
    /** Gives a guild an emoji of its own. */
    addEmoji: async (input: { readonly guild?: string; readonly name: string }) => {
      const emoji = { id: world.nextId(), name: input.name };
      const guild = guildCalled(input.guild);
      guild.emojis.set(emoji.id, emoji);
      world.emit({ type: 'emojis-updated', guild });
      return emoji;
    },
    /** Switches privileged intents on and off: who identifies with one that is off is refused. */
    allowIntents: async (input: Partial<World['application']['privileged']>) => {
      world.application.privileged = { ...world.application.privileged, ...input };
    },
    addChannel: async (input: {
      readonly guild?: string;
      readonly name: string;
      readonly private?: boolean;
      readonly form?: keyof typeof channelTypes;
      readonly ageRestricted?: boolean;
      /** Who sees a private channel besides the bot. */
      readonly members?: readonly string[];
    }) => {
      const channel = createTextChannel(world, {
        guildId: guildCalled(input.guild).id,
        name: input.name.replace(/^#/, ''),
        type: channelTypes[input.form ?? 'text'],
        ageRestricted: input.ageRestricted ?? false,
        onlyFor: input.private === true ? idsOf(input.members) : undefined,
      });
      return channelView(world, channel);
    },
    /** Hides a channel from all but these, or opens it. Overwrites for roles stay, those for people are replaced. */
    setChannelPrivacy: async (input: {
      readonly channel: string;
      readonly private: boolean;
      readonly members?: readonly string[];
    }) => {
      const channel = channelCalled(input.channel);
      const members = idsOf(input.members);
      for (const { kind, targetId } of channel.overwrites.values())
        if (kind === 'member' || targetId === channel.guildId) channel.overwrites.delete(targetId);
      if (input.private) hideFromOthers(world, channel, members);
      world.emit({ type: 'channel-updated', channel });
      return channelView(world, channel);
    },
    setAgeRestriction: async (input: { readonly channel: string; readonly ageRestricted: boolean }) => {
      const channel = channelCalled(input.channel);
      channel.ageRestricted = input.ageRestricted;
      world.emit({ type: 'channel-updated', channel });
    },
    /** Replaces what a person or a role, by name or id, may do in a channel besides what they may anyway. */
    setOverwrite: async (input: {
      readonly channel: string;
      readonly for: string;
      readonly allow?: readonly Permission[];
      readonly deny?: readonly Permission[];
    }) => {
      const channel = channelCalled(input.channel);
      const [allow, deny] = [bitsOf(input.allow), bitsOf(input.deny)];
      // A name that both have, as the bot and its role do, means the person.
      const person = knownPerson(world, input.for);
      const kind = person === undefined ? 'role' : 'member';
      const targetId = person?.id ?? findRole([guildOf(world, channel.guildId)], input.for).id;
      if (allow === 0n && deny === 0n) channel.overwrites.delete(targetId);
      else channel.overwrites.set(targetId, { kind, targetId, allow, deny });
      world.emit({ type: 'channel-updated', channel });
      return channelView(world, channel);
    },
    /** Deletes a channel of a guild with its threads, or a thread. */
    deleteChannel: async ({ channel: reference }: { readonly channel: string }) => {
      const channel = findChannel(world, reference);
      if (channel.kind === 'dm') throw new SandboxError('A DM cannot be deleted');
      for (const each of world.channels.values()) {
        if (each !== channel && !(each.kind === 'thread' && each.parentId === channel.id)) continue;
        world.channels.delete(each.id);
        world.messages.delete(each.id);
      }
      if (channel.kind === 'thread') world.emit({ type: 'thread-deleted', thread: channel });
      else world.emit({ type: 'channel-deleted', channel });
    },
    /** A person opens a thread, on a message where its id is given. */
    addThread: async (input: {
      readonly channel: string;
      readonly name: string;
      readonly as: string;
      readonly private?: boolean;
      readonly members?: readonly string[];
      readonly message?: string | undefined;
    }) => {
      const thread = createThread(world, {
        parent: channelCalled(input.channel),
        name: input.name,
        ownerId: findPerson(world, input.as).id,
        isPrivate: input.private ?? false,
        memberIds: idsOf(input.members),
        startMessage: input.message === undefined ? undefined : findMessageById(world, input.message),
      });
      return channelView(world, thread);
    },
    /** Opens a post of a forum: a thread and its first message, which have one id. */
    addPost: async (input: Omit<Writing, 'in'> & { readonly forum: string; readonly title: string }) => {
      const parent = channelCalled(input.forum);
      const owner = findPerson(world, input.as);
      const { text, attachments } = written(world, parent, owner, input);
      const basics = { parent, name: input.title, ownerId: owner.id, isPrivate: false };
      const channel = addThread(world, world.nextId(), basics);
      const message = { text, attachments, mentions: mentionsIn(text, undefined, undefined) };
      return messageView(
        world,
        createMessage(world, { ...message, id: channel.id, channel, authorId: owner.id }),
      );
    },
    /** Puts a thread away or opens it, and locks it. */
    alterThread: async (input: {
      readonly thread: string;
      readonly archived?: boolean;
      readonly locked?: boolean;
    }) => {
      const thread = threadCalled(input.thread);
      thread.locked = input.locked ?? thread.locked;
      setArchived(world, thread, input.archived ?? thread.archived);
      return channelView(world, thread);
    },
    setThreadMember: async (input: {
      readonly thread: string;
      readonly person: string;
      readonly member?: boolean;
    }) => {
      const thread = threadCalled(input.thread);
      const { id: userId } = findPerson(world, input.person);
      if (input.member !== false) joinThread(world, thread, userId);
      else if (thread.members.delete(userId)) world.emit({ type: 'thread-left', thread, userId });
    },
  };
}

/** A guild by name or id; the first one where nothing is said. @throws {SandboxError} */
function findGuild(world: World, reference: string | undefined): Guild {
  const guilds = [...world.guilds.values()];
  const found = guilds.find(
    ({ id, name }) => reference === undefined || id === reference || name === reference,
  );
  if (found === undefined) throw new SandboxError(`There is no guild ${JSON.stringify(reference)}`);
  return found;
}

function findTextChannel(world: World, reference: string): TextChannel {
  const channel = findChannel(world, reference);
  if (channel.kind !== 'text')
    throw new SandboxError(`${reference} is a ${channel.kind}, not a channel of a guild`);
  return channel;
}

function findThread(world: World, reference: string): ThreadChannel {
  const channel = findChannel(world, reference);
  if (channel.kind !== 'thread') throw new SandboxError(`${reference} is not a thread`);
  return channel;
}

function bitsOf(names: readonly Permission[] = []): bigint {
  return names.reduce((bits, name) => bits | PermissionFlagsBits[name], 0n);
}

function setRole(
  world: World,
  guild: Guild,
  name: string,
  permissions: bigint,
  userIds: readonly string[],
): Role {
  const known = [...guild.roles.values()].find((role) => role.name === name);
  const role = known ?? {
    id: world.nextId(),
    name,
    permissions,
    position: guild.roles.size,
    managed: false,
  };
  role.permissions = permissions;
  guild.roles.set(role.id, role);
  world.emit({ type: known === undefined ? 'role-created' : 'role-updated', guildId: guild.id, role });
  for (const userId of userIds) {
    const member = guild.members.get(userId);
    if (member === undefined || member.roleIds.has(role.id)) continue;
    member.roleIds.add(role.id);
    world.emit({ type: 'member-updated', guildId: guild.id, member });
  }
  return role;
}
