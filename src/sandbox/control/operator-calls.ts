import { PermissionFlagsBits } from 'discord-api-types/v10';

import {
  createTextChannel,
  deleteTextChannel,
  setAgeRestriction,
  setOverwrite,
  setPrivacy,
} from '../world/channels.ts';
import type { Overwrite, TextChannel, User } from '../world/entities.ts';
import {
  addEmoji,
  addMember,
  createGuild,
  createUser,
  deleteRole,
  setBotMembership,
  setRole,
  takeRole,
} from '../world/guilds.ts';
import { deleteThread } from '../world/threads.ts';
import { guildOf, type World } from '../world/world.ts';
import type { CheckedInput } from './control-inputs.ts';
import { channelView, personView } from './control-views.ts';
import { findChannel, findGuild, findPerson, findRole, findTextChannel, knownPerson } from './references.ts';
import { SandboxError, type DefineCall } from './sandbox-control.ts';

/** What an operator changes: people, guilds, roles, channels, permissions. */
export function operatorCalls(define: DefineCall, world: World) {
  return {
    addPerson: define('addPerson', (input) => personView(addPerson(world, input))),
    /** A person who refuses DMs lets the bot run into error 50007. */
    closeDms: define('closeDms', (input) => {
      const person = findPerson(world, input.person);
      person.closedDms = input.closed;
      return personView(person);
    }),
    addGuild: define('addGuild', (input) => {
      const members = idsOf(world, input.members);
      const guild = createGuild(world, { name: input.name, ownerId: findPerson(world, input.owner).id });
      for (const id of members) addMember(world, guild.id, id);
      return { id: guild.id, name: guild.name };
    }),
    /** Takes the bot out of a guild, as a kick does, or back into it. */
    setBotMembership: define('setBotMembership', (input) =>
      setBotMembership(world, findGuild(world, input.guild), input.isMember),
    ),
    /** Tells the bot that a guild has an outage, or that it is over. Its messages still come. */
    setGuildAvailability: define('setGuildAvailability', (input) => {
      const guild = findGuild(world, input.guild);
      world.emit({ type: input.available ? 'guild-created' : 'guild-unavailable', guild });
    }),
    /** Creates a role or changes its permissions, and gives it to people. */
    setRole: define('setRole', (input) => {
      const permissions = permissionBits(input.permissions);
      const role = { name: input.name, permissions, userIds: idsOf(world, input.people) };
      return { id: setRole(world, findGuild(world, input.guild), role).id };
    }),
    /** Takes a role from people. */
    takeRole: define('takeRole', (input) => {
      const guild = findGuild(world, input.guild);
      takeRole(world, guild, findRole([guild], input.role), idsOf(world, input.people));
    }),
    /** Deletes a role with its overwrites, and takes it from everybody. */
    deleteRole: define('deleteRole', (input) => {
      const guild = findGuild(world, input.guild);
      deleteRole(world, guild, findRole([guild], input.role));
    }),
    /** Gives a guild an emoji of its own. */
    addEmoji: define('addEmoji', (input) => addEmoji(world, findGuild(world, input.guild), input.name)),
    addChannel: define('addChannel', (input) => {
      const guildId = findGuild(world, input.guild).id;
      const onlyFor = input.private ? idsOf(world, input.members) : undefined;
      return channelView(
        world,
        createTextChannel(world, {
          guildId,
          name: input.name.replace(/^#/, ''),
          form: input.form,
          ageRestricted: input.ageRestricted,
          onlyFor,
        }),
      );
    }),
    setChannelPrivacy: define('setChannelPrivacy', (input) => {
      const channel = findTextChannel(world, input.channel);
      setPrivacy(world, channel, input.private ? idsOf(world, input.members) : undefined);
      return channelView(world, channel);
    }),
    /** Makes a channel age-restricted, or takes that back. */
    setAgeRestriction: define('setAgeRestriction', (input) => {
      const channel = findTextChannel(world, input.channel);
      setAgeRestriction(world, channel, input.ageRestricted);
      return channelView(world, channel);
    }),
    /** Replaces what a person or a role may do in a channel besides what they may anyway. */
    setOverwrite: define('setOverwrite', (input) => {
      const channel = findTextChannel(world, input.channel);
      const allow = permissionBits(input.allow);
      const deny = permissionBits(input.deny);
      setOverwrite(world, channel, { ...overwriteTarget(world, channel, input.for), allow, deny });
      return channelView(world, channel);
    }),
    /** Gives and takes permissions of a role in its guild, and leaves the others. */
    changePermissions: define('changePermissions', (input) => {
      const guild = findGuild(world, input.guild);
      const role = findRole([guild], input.for);
      const permissions = (role.permissions | permissionBits(input.allow)) & ~permissionBits(input.deny);
      setRole(world, guild, { name: role.name, permissions, userIds: [] });
    }),
    /** Switches privileged intents on and off: who identifies with one that is off is refused. */
    allowIntents: define('allowIntents', (input) => {
      const { privileged } = world.application;
      world.application.privileged = {
        messageContent: input.messageContent ?? privileged.messageContent,
        guildMembers: input.guildMembers ?? privileged.guildMembers,
        presences: input.presences ?? privileged.presences,
      };
    }),
    /** Deletes a channel of a guild or a thread. */
    deleteChannel: define('deleteChannel', (input) => deleteChannel(world, input.channel)),
  };
}

function idsOf(world: World, people: readonly string[]): readonly string[] {
  return people.map((reference) => findPerson(world, reference).id);
}

function permissionBits(names: CheckedInput<'setRole'>['permissions']): bigint {
  return names.reduce((bits, name) => bits | PermissionFlagsBits[name], 0n);
}

/** @throws {SandboxError} when the name or the id is taken. */
function addPerson(world: World, input: CheckedInput<'addPerson'>): User {
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

/** A name that both have, as the bot and its role do, means the person. @throws {SandboxError} */
function overwriteTarget(
  world: World,
  { guildId }: TextChannel,
  reference: string,
): Pick<Overwrite, 'kind' | 'targetId'> {
  const person = knownPerson(world, reference);
  if (person !== undefined) return { kind: 'member', targetId: person.id };
  return { kind: 'role', targetId: findRole([guildOf(world, guildId)], reference).id };
}

/** @throws {SandboxError} for a DM, which cannot be deleted. */
function deleteChannel(world: World, reference: string): void {
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
