import {
  Events,
  PermissionsBitField,
  type Client,
  type GatewayIntentBits,
  type Guild,
  type PermissionsString,
} from 'discord.js';

import type { Logger } from '../core/logger.ts';

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
  { permission: 'AttachFiles', why: 'to send long code as a file; without it, such code fills messages' },
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

export function missingPermissions(given: bigint): readonly string[] {
  return new PermissionsBitField(given).missing(permissionNames).map(inWords);
}

export function lacksEssentials(given: bigint): boolean {
  const essential = requiredPermissions.filter(({ isEssential }) => isEssential === true);
  return !new PermissionsBitField(given).has(essential.map(({ permission }) => permission));
}

export function inviteLink(applicationId: string): string {
  const permissions = PermissionsBitField.resolve(permissionNames);
  return `https://discord.com/oauth2/authorize?client_id=${applicationId}&scope=bot+applications.commands&permissions=${permissions}`;
}

export function requirementsText(): string {
  return [
    `\`${inviteLink('YOUR_APPLICATION_ID')}\``,
    '',
    '| what | why |',
    '|---|---|',
    '| scope `bot` | to join the server |',
    "| scope `applications.commands` | for `/memory`, `/catchup`, `/status`, `/settings` and the entries in a message's menu |",
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

export function reportMissingPermissions(client: Client, logger: Logger): void {
  const report = ({ id: guildId, members: { me } }: Guild): void => {
    const permissions = me === null ? [] : missingPermissions(me.permissions.bitfield);
    if (permissions.length > 0)
      logger.warn('the bot lacks permissions in a server', { guildId, permissions });
  };
  for (const guild of client.guilds.cache.values()) report(guild);
  client.on(Events.GuildCreate, report);
}
