import { PermissionFlagsBits, type ThreadAutoArchiveDuration } from 'discord-api-types/v10';

import type { Channel, DmChannel, Overwrite, TextChannel, ThreadChannel } from './entities.ts';
import { canView } from './permissions.ts';
import type { World } from './world.ts';

interface NewTextChannel {
  readonly guildId: string;
  readonly name: string;
  readonly form?: TextChannel['form'];
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
    form: input.form ?? 'text',
    ageRestricted: input.ageRestricted ?? false,
    position: [...world.channels.values()].filter(({ kind }) => kind === 'text').length,
    overwrites: new Map(),
  };
  if (input.onlyFor !== undefined) writePrivacy(world, channel, input.onlyFor);
  world.channels.set(channel.id, channel);
  world.emit({ type: 'channel-created', channel });
  return channel;
}

/**
 * Hides a channel from @everyone, except these users and the bot; `undefined` opens it. Overwrites for roles stay, those
 * for users are replaced.
 */
export function setPrivacy(world: World, channel: TextChannel, onlyFor: readonly string[] | undefined): void {
  changeAccess(world, channel, () => {
    for (const overwrite of channel.overwrites.values()) {
      if (overwrite.kind === 'member' || overwrite.targetId === channel.guildId) {
        channel.overwrites.delete(overwrite.targetId);
      }
    }
    if (onlyFor !== undefined) writePrivacy(world, channel, onlyFor);
  });
}

/** Switches a channel's age restriction on or off. */
export function setAgeRestriction(world: World, channel: TextChannel, ageRestricted: boolean): void {
  channel.ageRestricted = ageRestricted;
  world.emit({ type: 'channel-updated', channel });
}

/** Sets one overwrite; one that neither allows nor denies anything is removed. */
export function setOverwrite(world: World, channel: TextChannel, overwrite: Overwrite): void {
  changeAccess(world, channel, () => {
    if (overwrite.allow === 0n && overwrite.deny === 0n) channel.overwrites.delete(overwrite.targetId);
    else channel.overwrites.set(overwrite.targetId, overwrite);
  });
}

/** Announces a change of who may do what, and that the bot sees the channel where it did not before. */
function changeAccess(world: World, channel: TextChannel, change: () => void): void {
  const couldView = canView(world, channel, world.botId);
  change();
  world.emit({ type: 'channel-updated', channel });
  if (!couldView && canView(world, channel, world.botId)) world.emit({ type: 'access-gained', channel });
}

/** Deletes a channel with its threads and messages. */
export function deleteTextChannel(world: World, channel: TextChannel): void {
  for (const thread of world.channels.values()) {
    if (thread.kind !== 'thread' || thread.parentId !== channel.id) continue;
    world.channels.delete(thread.id);
    world.messages.delete(thread.id);
  }
  world.channels.delete(channel.id);
  world.messages.delete(channel.id);
  world.emit({ type: 'channel-deleted', channel });
}

/**
 * The DM between the bot and a person, opened at first use, with this id where one is given. Discord announces it to a bot
 * only by its first message.
 */
export function openDm(world: World, personId: string, id?: string): DmChannel {
  for (const channel of world.channels.values()) {
    if (channel.kind === 'dm' && channel.personId === personId) return channel;
  }
  const channel: DmChannel = { kind: 'dm', id: id ?? world.nextId(), personId };
  world.channels.set(channel.id, channel);
  return channel;
}

function writePrivacy(world: World, channel: TextChannel, userIds: readonly string[]): void {
  const view = PermissionFlagsBits.ViewChannel;
  channel.overwrites.set(channel.guildId, { targetId: channel.guildId, kind: 'role', allow: 0n, deny: view });
  for (const targetId of new Set([world.botId, ...userIds])) {
    channel.overwrites.set(targetId, { targetId, kind: 'member', allow: view, deny: 0n });
  }
}

interface ThreadChange {
  readonly name?: string | undefined;
  readonly archived?: boolean | undefined;
  /** Only who may manage threads opens it again, writes in it or changes it. */
  readonly locked?: boolean | undefined;
  /** Minutes without a message after which Discord puts it away. */
  readonly autoArchiveMinutes?: ThreadAutoArchiveDuration | undefined;
}

/** Changes a thread, announced where anything is different then. */
export function changeThread(world: World, thread: ThreadChannel, change: ThreadChange): void {
  const { name, archived, locked, autoArchiveMinutes } = thread;
  const wanted = {
    name: change.name ?? name,
    archived: change.archived ?? archived,
    locked: change.locked ?? locked,
    autoArchiveMinutes: change.autoArchiveMinutes ?? autoArchiveMinutes,
  };
  const movesStamp = wanted.archived !== archived || wanted.autoArchiveMinutes !== autoArchiveMinutes;
  if (!movesStamp && wanted.name === name && wanted.locked === locked) return;
  Object.assign(thread, wanted);
  if (movesStamp) thread.archiveChangedAt = world.now().toISOString();
  world.emit({ type: 'thread-updated', thread });
  if (archived && !wanted.archived) world.emit({ type: 'thread-unarchived', thread });
}

/** Adds a member of the guild to a thread; already in it is fine. */
export function joinThread(world: World, thread: ThreadChannel, userId: string): void {
  if (thread.members.has(userId) || !world.guilds.get(thread.guildId)?.members.has(userId)) return;
  thread.members.set(userId, world.now().toISOString());
  world.emit({ type: 'thread-joined', thread, userId });
}

/** Takes a member out of a thread; not in it is fine. */
export function leaveThread(world: World, thread: ThreadChannel, userId: string): void {
  if (thread.members.delete(userId)) world.emit({ type: 'thread-left', thread, userId });
}

/** The threads of a guild that are not put away and that the bot can view. */
export function activeThreads(
  world: World,
  guildId: string,
  among: Iterable<Channel> = world.channels.values(),
): readonly ThreadChannel[] {
  return [...among].flatMap((channel) =>
    channel.kind === 'thread' &&
    channel.guildId === guildId &&
    !channel.archived &&
    canView(world, channel, world.botId)
      ? [channel]
      : [],
  );
}
