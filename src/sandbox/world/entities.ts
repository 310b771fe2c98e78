import type {
  APIApplicationCommandOption,
  APIEmbed,
  ApplicationCommandType,
  MessageType,
} from 'discord-api-types/v10';

export interface User {
  readonly id: string;
  /** Unique; the name that the control and mentions use. */
  readonly username: string;
  readonly bot: boolean;
  /** Refuses direct messages: the bot gets error 50007. */
  closedDms: boolean;
}

/** A permission overwrite of a channel. */
export interface Overwrite {
  /** Of a role or a user; the guild's own id is the role @everyone. */
  readonly targetId: string;
  readonly kind: 'role' | 'member';
  readonly allow: bigint;
  readonly deny: bigint;
}

export interface Role {
  readonly id: string;
  readonly name: string;
  permissions: bigint;
  readonly position: number;
  /** Belongs to an integration: the bot's own role. */
  readonly managed: boolean;
}

export interface Member {
  readonly userId: string;
  readonly roleIds: Set<string>;
  /** ISO 8601, UTC. */
  readonly joinedAt: string;
}

export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly roles: Map<string, Role>;
  readonly members: Map<string, Member>;
  readonly createdAt: string;
}

export interface TextChannel {
  readonly kind: 'text';
  readonly id: string;
  readonly guildId: string;
  readonly name: string;
  readonly position: number;
  /** By the id of the role or user. */
  readonly overwrites: Map<string, Overwrite>;
}

export interface ThreadChannel {
  readonly kind: 'thread';
  readonly id: string;
  readonly guildId: string;
  readonly parentId: string;
  readonly name: string;
  /** Only its members, and those who may manage threads, see it. */
  readonly isPrivate: boolean;
  readonly ownerId: string;
  /** User id → when they joined. */
  readonly members: Map<string, string>;
  readonly createdAt: string;
}

/** A conversation between the bot and one person. */
export interface DmChannel {
  readonly kind: 'dm';
  readonly id: string;
  readonly personId: string;
}

export type Channel = TextChannel | ThreadChannel | DmChannel;

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
  readonly description?: string | undefined;
  /** What the message says instead of where the file lies, or how long it is. */
  readonly pretended?: { readonly url?: string | undefined; readonly bytes?: number | undefined };
}

export interface Message {
  readonly id: string;
  readonly channelId: string;
  readonly authorId: string;
  readonly type: MessageType;
  text: string;
  readonly createdAt: string;
  editedAt: string | null;
  attachments: readonly Attachment[];
  embeds: readonly APIEmbed[];
  /** Who is pinged, after `allowed_mentions`. */
  mentionedIds: readonly string[];
  mentionsEveryone: boolean;
  readonly replyTo: MessageReference | undefined;
  readonly nonce: string | number | undefined;
  flags: number;
  /** ISO 8601, UTC; `null` while it is not pinned. */
  pinnedAt: string | null;
  /** Emoji → who reacted. */
  readonly reactions: Map<string, Set<string>>;
  /** The interaction this message answers. */
  readonly interaction: { readonly id: string; readonly userId: string } | undefined;
}

/** What a message said from a moment on. */
export interface MessageVersion {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly text: string;
}

export interface MessageReference {
  readonly channelId: string;
  readonly messageId: string;
}

export interface Team {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly memberIds: readonly string[];
}

export interface Application {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly team: Team | undefined;
  /** Which privileged intents are switched on in the developer portal. */
  readonly privileged: PrivilegedIntents;
}

export interface PrivilegedIntents {
  readonly messageContent: boolean;
  readonly guildMembers: boolean;
  readonly presences: boolean;
}

/** How the bot shows itself in the member list. */
export interface Presence {
  /** `offline` while it is not connected. */
  readonly status: 'online' | 'idle' | 'dnd' | 'invisible' | 'offline';
  readonly activities: readonly Activity[];
}

export interface Activity {
  readonly name: string;
  /** 4 is a status of one's own words, which stand in `state`. */
  readonly type: number;
  readonly state?: string | undefined;
}

export interface Command {
  readonly id: string;
  /** Absent where the command is global. */
  readonly guildId: string | undefined;
  readonly type: ApplicationCommandType;
  readonly name: string;
  readonly description: string;
  readonly options: readonly APIApplicationCommandOption[];
  readonly version: string;
}

/** A slash command that somebody gave, and what the bot made of it. */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly channelId: string;
  readonly userId: string;
  readonly command: Command;
  readonly options: readonly InteractionOption[];
  /** `waiting`: nothing came yet; `deferred`: acknowledged, the answer is still to come. */
  state: 'waiting' | 'deferred' | 'answered';
  ephemeral: boolean;
  original: Message | undefined;
  readonly followUps: Message[];
}

export interface InteractionOption {
  readonly name: string;
  readonly type: number;
  readonly value?: string | number | boolean;
  readonly options?: readonly InteractionOption[];
}
