import type {
  APIActionRowComponent,
  APIApplicationCommandOption,
  APIApplicationCommandOptionChoice,
  APIButtonComponentWithCustomId,
  APIButtonComponentWithURL,
  APIEmbed,
  APIPoll,
  APIStringSelectComponent,
  ApplicationCommandOptionType,
  ApplicationCommandType,
  ApplicationIntegrationType,
  ChannelType,
  InteractionContextType,
  MessageType,
  TextInputStyle,
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
  /** The bot that it came with. */
  readonly botId?: string;
}

export interface Member {
  readonly userId: string;
  readonly roleIds: Set<string>;
  /** ISO 8601, UTC. */
  readonly joinedAt: string;
}

/** An emoji of a guild's own. */
export interface GuildEmoji {
  readonly id: string;
  readonly name: string;
}

export interface Guild {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly emojis: Map<string, GuildEmoji>;
  readonly roles: Map<string, Role>;
  readonly members: Map<string, Member>;
  readonly createdAt: string;
}

export interface TextChannel {
  readonly kind: 'text';
  readonly id: string;
  readonly guildId: string;
  readonly name: string;
  /** What Discord calls it; the sandbox makes no difference between them. */
  readonly type: ChannelType;
  readonly position: number;
  /** Discord shows it only to people who may see such content; it tells bots no ages. */
  ageRestricted: boolean;
  /** By the id of the role or user. */
  readonly overwrites: Map<string, Overwrite>;
}

export interface ThreadChannel {
  readonly kind: 'thread';
  readonly id: string;
  readonly guildId: string;
  readonly parentId: string;
  name: string;
  /** Only its members, and those who may manage threads, see it. */
  readonly isPrivate: boolean;
  readonly ownerId: string;
  /** User id → when they joined. */
  readonly members: Map<string, string>;
  readonly createdAt: string;
  archived: boolean;
  /** Only who may manage threads writes in it, changes it or opens it again. */
  locked: boolean;
  /** When it was put away or opened last. ISO 8601, UTC. */
  archiveChangedAt: string;
}

/** A conversation between one person and the bot, or other people alone. */
export interface DmChannel {
  readonly kind: 'dm';
  readonly id: string;
  readonly personId: string;
  /** Who is in it besides the person; absent where it is the bot. */
  readonly others?: readonly string[];
}

export type Channel = TextChannel | ThreadChannel | DmChannel;

export interface Attachment {
  readonly id: string;
  readonly name: string;
  readonly contentType: string | undefined;
  readonly bytes: Buffer;
  readonly description?: string | undefined;
  /** Of a voice message. */
  readonly seconds?: number | undefined;
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
  /** At most five rows, each of up to five buttons or of one select. */
  components: readonly ComponentRow[];
  /** Who is pinged, after `allowed_mentions`. */
  mentionedIds: readonly string[];
  mentionsEveryone: boolean;
  readonly replyTo: MessageReference | undefined;
  readonly nonce: string | number | undefined;
  flags: number;
  /** ISO 8601, UTC; `null` while it is not pinned. */
  pinnedAt: string | null;
  readonly poll: APIPoll | undefined;
  /** Further fields of Discord's message object, handed out as they stand. */
  readonly fields: MessageFields | undefined;
  /** Emoji → who reacted. */
  readonly reactions: Map<string, Set<string>>;
  /** The interaction this message answers. */
  readonly interaction: Interaction | undefined;
  /** Of a message that one person alone sees: who that is. */
  readonly viewerId: string | undefined;
}

export type MessageFields = Readonly<Record<string, unknown>>;

export type Button = APIButtonComponentWithCustomId | APIButtonComponentWithURL;
export type MessageComponent = Button | APIStringSelectComponent;
export type ComponentRow = APIActionRowComponent<MessageComponent>;

export interface MessageReference {
  readonly channelId: string;
  readonly messageId: string;
}

export interface Application {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  /** Which privileged intents are switched on in the developer portal. */
  privileged: PrivilegedIntents;
}

export interface PrivilegedIntents {
  readonly messageContent: boolean;
  readonly guildMembers: boolean;
  readonly presences: boolean;
}

export interface Command {
  readonly id: string;
  readonly type: ApplicationCommandType.ChatInput | ApplicationCommandType.Message;
  readonly name: string;
  readonly description: string;
  readonly options: readonly APIApplicationCommandOption[];
  /** What a member of a guild needs to be offered it; 0 is for administrators, absent for everybody. */
  readonly memberPermissions: bigint | undefined;
  /** Where a global command is offered; absent for everywhere. */
  readonly contexts: readonly InteractionContextType[] | undefined;
  /** How the app has to be installed for it; absent for in a guild. */
  readonly installations: readonly ApplicationIntegrationType[] | undefined;
  readonly nsfw: boolean;
  /** Changes when anything in the command does. */
  readonly version: string;
}

/** What somebody asked of the bot other than by writing. */
export type InteractionRequest =
  /** Complete: still typing, one of the options is `focused`. */
  | {
      readonly kind: 'slash' | 'complete';
      readonly command: Command;
      readonly options: readonly InteractionOption[];
      /** The files that options name by their ids. */
      readonly attachments?: readonly Attachment[];
    }
  | { readonly kind: 'message-menu'; readonly command: Command; readonly message: Message }
  | {
      readonly kind: 'component';
      readonly message: Message;
      readonly component: APIButtonComponentWithCustomId | APIStringSelectComponent;
      /** What was chosen in a select. */
      readonly values: readonly string[];
    }
  | {
      readonly kind: 'modal';
      readonly modal: Modal;
      /** What was answered with the modal. */
      readonly openedBy: Interaction;
      /** By custom id what stands in each field. */
      readonly values: ReadonlyMap<string, string>;
      /** The message whose component the modal was opened from. */
      readonly message: Message | undefined;
    };

/** A window with text fields, which the bot opens before the eyes of one person. */
export interface Modal {
  readonly custom_id: string;
  readonly title: string;
  readonly components: readonly { readonly label: string; readonly component: TextField }[];
}

interface TextField {
  readonly custom_id: string;
  /** One line, or several. */
  readonly style: TextInputStyle;
  readonly min_length?: number;
  readonly max_length?: number;
  readonly required?: boolean;
  /** What stands in it when it opens. */
  readonly value?: string;
}

/** A request, and what the bot made of it. */
export interface Interaction {
  readonly id: string;
  /** Secret and unique: knowing it is enough to answer. */
  readonly token: string;
  readonly channelId: string;
  readonly userId: string;
  readonly request: InteractionRequest;
  /**
   * `waiting`: nothing came yet; `deferred`: acknowledged, the answer is still to come; `failed`: nothing came within three
   * seconds, and nothing is taken any more.
   */
  state: 'waiting' | 'deferred' | 'answered' | 'failed';
  /** The first answer; for a component that was acknowledged or updated, the message that it hangs on. */
  original: Message | undefined;
  readonly followUps: Message[];
  /** The window that it was answered with. */
  modal: Modal | undefined;
  /** What the bot offers for a half-typed option. */
  choices: readonly APIApplicationCommandOptionChoice<string>[];
}

export interface InteractionOption {
  readonly name: string;
  readonly type: ApplicationCommandOptionType;
  readonly value?: string;
  readonly focused?: true;
  readonly options?: readonly InteractionOption[];
}
