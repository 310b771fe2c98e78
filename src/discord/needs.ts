import { PermissionsBitField, type GatewayIntentBits, type PermissionsString } from 'discord.js';

/** What the bot asks of Discord, each with the reason, which the README tells people too. */
interface Need {
  readonly why: string;
}

export interface NeededIntent extends Need {
  readonly intent: keyof typeof GatewayIntentBits;
  /** To be switched on in the developer portal. */
  readonly isPrivileged?: true;
}

export const neededIntents: readonly NeededIntent[] = [
  {
    intent: 'Guilds',
    why: 'to know channels, threads and who can see them, on which every privacy rule rests',
  },
  { intent: 'GuildMessages', why: 'to be told of messages, edits and deletions in servers' },
  { intent: 'DirectMessages', why: 'the same in direct messages' },
  {
    intent: 'MessageContent',
    isPrivileged: true,
    why: 'to read what is said; without it a message that does not mention the bot comes without words',
  },
  { intent: 'GuildMessageReactions', why: 'to see 🛑, which ends an answer' },
  { intent: 'DirectMessageReactions', why: 'the same in direct messages' },
];

export interface NeededPermission extends Need {
  readonly permission: PermissionsString;
}

export const neededPermissions: readonly NeededPermission[] = [
  { permission: 'ViewChannel', why: 'to read where it is to answer' },
  { permission: 'SendMessages', why: 'to answer' },
  { permission: 'SendMessagesInThreads', why: 'to answer in threads and forum posts' },
  {
    permission: 'ReadMessageHistory',
    why: 'to answer as a reply, to know what was said before, and to catch up after being offline',
  },
  { permission: 'AddReactions', why: 'to show 👀 while a message waits, and to react when asked' },
  { permission: 'CreatePublicThreads', why: 'to start a thread when asked' },
  { permission: 'CreatePrivateThreads', why: 'to start a private thread when asked' },
  { permission: 'PinMessages', why: 'to pin and unpin a message when asked' },
  { permission: 'SendPolls', why: 'to make a poll when asked' },
];

/** All needed permissions as Discord's invite link takes them. */
export function invitePermissions(): bigint {
  return PermissionsBitField.resolve(neededPermissions.map(({ permission }) => permission));
}
