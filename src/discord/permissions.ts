import {
  ChannelType,
  GatewayDispatchEvents,
  PermissionFlagsBits as Permission,
  PermissionsBitField,
  type APIOverwrite,
  type Channel,
  type Client,
  type GatewayGuildDeleteDispatchData,
  type GatewayIntentBits,
  type GuildBasedChannel,
  type GuildMember,
  type PermissionsString,
} from 'discord.js';

import type { ServerPort } from '../core/channels.ts';
import { lruCache } from '../core/limits.ts';
import { isPart, type Shards } from '../core/processes.ts';
import { unknownOverwrite } from './payloads.ts';

/** As it reads after "the permission to". */
export const capabilities = {
  view: 'see the channel',
  read: 'read earlier messages',
  send: 'write',
  react: 'add reactions',
  pin: 'pin messages',
  poll: 'make polls',
  'start-thread': 'start threads',
  'start-private-thread': 'start private threads',
} as const;

export type Capability = keyof typeof capabilities;

/** A thread is judged by its parent. */
export function hasKnownOverwrites(channel: GuildBasedChannel): boolean {
  const judged = channel.isThread() ? channel.parent : channel;
  return judged === null || !judged.permissionOverwrites.cache.has(unknownOverwrite.id);
}

/** A voice channel takes connecting too [V0]. By type, since the library also checks the bitrate. */
export function neededToRead({ type }: Pick<GuildBasedChannel, 'type'>): bigint {
  return type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice
    ? Permission.ViewChannel | Permission.Connect
    : Permission.ViewChannel;
}

/** Besides viewing the channel and, for some, sending there. */
const needed: Readonly<Record<Capability, bigint>> = {
  view: 0n,
  read: Permission.ReadMessageHistory,
  send: 0n,
  react: Permission.ReadMessageHistory | Permission.AddReactions,
  pin: Permission.ReadMessageHistory | Permission.PinMessages,
  poll: Permission.SendPolls,
  'start-thread': Permission.CreatePublicThreads | Permission.SendMessagesInThreads,
  'start-private-thread': Permission.CreatePrivateThreads | Permission.SendMessagesInThreads,
};
const takesSending: ReadonlySet<Capability> = new Set(['send', 'poll']);

/** As far as the caches tell; `undefined` where that cannot be known. */
export function memberMay(
  capability: Capability,
  channel: GuildBasedChannel,
  member: GuildMember,
): boolean | undefined {
  // While a guild is unavailable after a gap, its permissions may be outdated.
  const isKnown = channel.guild.available && hasKnownOverwrites(channel);
  const granted = isKnown ? channel.permissionsFor(member) : null;
  if (granted === null) return undefined;
  if (!granted.has(neededToRead(channel)) || !isPossible(capability, channel)) return false;
  if (capability === 'view' || capability === 'read') return granted.has(needed[capability]);
  if (member.isCommunicationDisabled() && !granted.has(Permission.Administrator)) return false;
  if (channel.isThread() && channel.locked === true && !granted.has(Permission.ManageThreads)) return false;
  const sending = channel.isThread() ? Permission.SendMessagesInThreads : Permission.SendMessages;
  return granted.has(needed[capability] | (takesSending.has(capability) ? sending : 0n));
}

/** Only sending is possible in an archived thread, which it opens. */
function isPossible(capability: Capability, channel: GuildBasedChannel): boolean {
  const { type } = channel;
  if (capability === 'view') return true;
  if (capability === 'start-private-thread') return type === ChannelType.GuildText;
  if (capability === 'start-thread')
    return type === ChannelType.GuildText || type === ChannelType.GuildAnnouncement;
  const isArchived = channel.isThread() && channel.archived === true;
  return channel.isSendable() && !(isArchived && (capability === 'react' || capability === 'pin'));
}

/** Discord sends no events for changes to other members, so they are fetched each time. */
export function createServerPort(client: Client, shards: Shards): ServerPort {
  return {
    hasSeveral: () => client.guilds.cache.size > 1 || isPart(shards),
    async permissionLevel(guildId, userId) {
      const guild = client.guilds.cache.get(guildId);
      if (guild?.available !== true) return 'none';
      if (guild.ownerId === userId) return 'administrator';
      const member = await guild.members.fetch({ user: userId, force: true }).catch(() => undefined);
      if (member?.permissions.has(Permission.Administrator) === true) return 'administrator';
      return member?.permissions.has(Permission.ManageGuild) === true ? 'manager' : 'none';
    },
    role(guildId, named) {
      const roles = client.guilds.cache.get(guildId)?.roles.cache;
      const needle = named.toLowerCase();
      const found = roles?.filter(({ name }) =>
        [name, `@${name}`].some((each) => each.toLowerCase() === needle),
      );
      return roles?.get(named) ?? (found?.size === 1 ? found.first() : undefined);
    },
    titleOf: (guildOrMention) => titleOf(client, guildOrMention),
  };
}

export function titleOf({ guilds }: Client, guildOrMention: string): string {
  const [, id = ''] = /^<@&(\d+)>$/u.exec(guildOrMention) ?? [];
  const guild = guilds.cache.find(({ roles }) => roles.cache.has(id));
  if (guild === undefined) return guilds.cache.get(guildOrMention)?.name ?? guildOrMention;
  return `@${guild.roles.cache.get(id)?.name.replace(/^@/u, '')} in ${guild.name}`;
}

/** Discord bans addresses that send many refused requests. What cannot be known is tried. */
export function botMay(capability: Capability, channel: Channel | undefined): boolean {
  if (channel === undefined) return true;
  if (channel.isDMBased()) return capability !== 'start-thread' && capability !== 'start-private-thread';
  const { me } = channel.guild.members;
  return me === null || (memberMay(capability, channel, me) ?? true);
}

const keptGone = 10_000;

/** Deleted channels, and those of servers that the bot has left: no request is sent for them [G3d]. */
export function watchGoneChannels(client: Client): (channelId: string) => boolean {
  const gone = lruCache<string, true>(keptGone);
  const note = ({ id }: { readonly id: string }): void => void gone.set(id, true);
  // Raw events come before the library clears its caches. An outage is not a departure.
  client.ws.on(GatewayDispatchEvents.GuildDelete, ({ id, unavailable }: GatewayGuildDeleteDispatchData) => {
    if (unavailable === true) return;
    for (const channel of client.channels.cache.values())
      if (!channel.isDMBased() && channel.guildId === id) note(channel);
  });
  client.ws.on(GatewayDispatchEvents.ChannelDelete, note);
  client.ws.on(GatewayDispatchEvents.ThreadDelete, note);
  return (channelId) => gone.has(channelId) && !client.channels.cache.has(channelId);
}

/** Reasons are repeated in docs/permissions.md. Privileged intents are switched on in the portal. */
export const requiredIntents: readonly {
  readonly intent: keyof typeof GatewayIntentBits;
  readonly isPrivileged?: true;
  readonly why: string;
}[] = [
  {
    intent: 'Guilds',
    why: 'to know channels, threads and who can see them; every privacy rule rests on this',
  },
  { intent: 'GuildMessages', why: 'to receive messages, edits and deletions in servers' },
  { intent: 'DirectMessages', why: 'the same in direct messages' },
  {
    intent: 'MessageContent',
    isPrivileged: true,
    why: 'to read messages; without it, a message that does not mention the bot arrives without its text',
  },
  { intent: 'GuildMessageReactions', why: 'to see 🛑, which ends an answer' },
  { intent: 'DirectMessageReactions', why: 'the same in direct messages' },
  { intent: 'GuildExpressions', why: 'to show a server’s own emoji where an answer names one' },
];

/** Without an essential one the bot answers nowhere in a server. */
const requiredPermissions: readonly {
  readonly permission: PermissionsString;
  readonly isEssential?: true;
  readonly why: string;
}[] = [
  { permission: 'ViewChannel', isEssential: true, why: 'to see the channels where it answers' },
  { permission: 'SendMessages', isEssential: true, why: 'to answer' },
  { permission: 'SendMessagesInThreads', why: 'to answer in threads and forum posts' },
  {
    permission: 'ReadMessageHistory',
    isEssential: true,
    why: 'to reply to a message, to know what was said before, and to catch up after being offline',
  },
  { permission: 'AddReactions', why: 'to show 👀 while a message waits, and to react when asked' },
  { permission: 'CreatePublicThreads', why: 'to start a thread when asked' },
  { permission: 'CreatePrivateThreads', why: 'to start a private thread when asked' },
  { permission: 'PinMessages', why: 'to pin and unpin a message when asked' },
  { permission: 'SendPolls', why: 'to create a poll when asked' },
];

const permissionNames = requiredPermissions.map(({ permission }) => permission);

export function missingPermissions(granted: bigint): readonly string[] {
  return new PermissionsBitField(granted).missing(permissionNames).map(inWords);
}

/** What a channel takes of what its server grants, for who has these roles: the server's id is everybody's [O1]. */
export function deniedIn(
  overwrites: readonly APIOverwrite[],
  granted: bigint,
  [everyone, roles, own]: readonly [everyone: string, roles: readonly string[], own: string],
): readonly string[] {
  const server = new PermissionsBitField(granted);
  if (server.has(Permission.Administrator)) return [];
  const left = new PermissionsBitField(granted);
  for (const ids of [[everyone], roles, [own]]) {
    const here = overwrites.filter(({ id }) => ids.includes(id));
    for (const { deny } of here) left.remove(BigInt(deny));
    for (const { allow } of here) left.add(BigInt(allow));
  }
  return permissionNames.filter((name) => server.has(name) && !left.has(name)).map(inWords);
}

export function lacksEssentials(granted: bigint): boolean {
  const essential = requiredPermissions.filter(({ isEssential }) => isEssential === true);
  return !new PermissionsBitField(granted).has(essential.map(({ permission }) => permission));
}

export function inviteLink(applicationId: string): string {
  const permissions = PermissionsBitField.resolve(permissionNames);
  return `https://discord.com/oauth2/authorize?client_id=${applicationId}&scope=bot+applications.commands&permissions=${permissions}`;
}

/** For a person who wants the commands wherever they are [EW1]. */
export function personLink(applicationId: string): string {
  return `https://discord.com/oauth2/authorize?client_id=${applicationId}&integration_type=1&scope=applications.commands`;
}

export function requirementsText(): string {
  return [
    `To a server: \`${inviteLink('YOUR_APPLICATION_ID')}\``,
    '',
    `For yourself, wherever you are: \`${personLink('YOUR_APPLICATION_ID')}\``,
    '',
    '| what | why |',
    '|---|---|',
    '| scope `bot` | to join the server |',
    "| scope `applications.commands` | for slash commands such as `/memory` and `/ask`, and the entries in a message's menu |",
    ...requiredPermissions.map(({ permission, why }) => `| permission *${inWords(permission)}* | ${why} |`),
    ...requiredIntents.map(
      ({ intent, isPrivileged, why }) =>
        `| intent *${inWords(intent)}*${isPrivileged === true ? ', **to be switched on**' : ''} | ${why} |`,
    ),
  ].join('\n');
}

/** `SendMessages` → `Send Messages`. */
function inWords(name: string): string {
  return name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, ' ');
}
