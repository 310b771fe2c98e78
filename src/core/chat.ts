import type { MessageChange, RecentChanges } from './changes.ts';
import type { imageTypes } from './model.ts';
import type { Place, SessionKey } from './place.ts';

/** Discord's limit for a message of a bot, in characters (UTF-16 units). */
export const sentMaxChars = 2000;

/** A message of a channel, as history has it. */
export interface ChatMessage {
  readonly id: string;
  readonly channelId: string;
  readonly author: {
    readonly id: string;
    readonly name: string;
    /** `self` is this bot; another bot is not this bot [H2]. */
    readonly kind: 'human' | 'self' | 'bot';
  };
  readonly text: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** When its text became what it is; absent if it was said so. */
  readonly editedAt?: string | undefined;
  /** File names only. */
  readonly attachments: readonly string[];
  /** What else people see of it that its author did not write. */
  readonly shown?: readonly ShownPiece[];
  /** It contains what its author did not write there: a file, a forward, words that the bot sent for somebody [M5a]. */
  readonly hasThirdPartyText?: true;
  /** Its text was heard in a voice message, which may play somebody else: it counts as a file's [M5a][G7]. */
  readonly heard?: true;
  /** Of the bot's own: the message that it replies to. */
  readonly answers?: string;
}

/** A forwarded message, poll, voice message, card or sticker, as a line of short text. */
export interface ShownPiece {
  readonly kind: 'forwarded message' | 'poll' | 'voice message' | 'card' | 'sticker';
  readonly text: string;
}

/** Whether its words are somebody else's than the message's author's [M5a]. */
export function isOthersText({ kind }: ShownPiece): boolean {
  return kind === 'card' || kind === 'sticker' || kind === 'forwarded message';
}

/** As its latest edit left it. */
export function edited<Message extends Pick<ChatMessage, 'text' | 'editedAt'>>(
  message: Message,
  edit: ReturnType<RecentChanges['latest']>,
): Message {
  return edit?.text === undefined ? message : { ...message, text: edit.text, editedAt: edit.editedAt };
}

/** When its words were written: what counts where they may not be kept or told [K9]. */
export function writtenAt({ at, editedAt }: Pick<ChatMessage, 'at' | 'editedAt'>): readonly string[] {
  return editedAt === undefined ? [at] : [at, editedAt];
}

/** Whether it has files or forwarded messages, which history only names or shortens. */
export function hasEnclosures({
  attachments,
  shown = [],
}: Pick<ChatMessage, 'attachments' | 'shown'>): boolean {
  return attachments.length > 0 || shown.some(({ kind }) => kind === 'forwarded message');
}

export interface AttachedFile {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** The longer side of a picture, in pixels. */
  readonly pixels?: number;
  /** Discord's addresses hold for a day. */
  readonly url: string;
  /** What it holds, where it did not come through Discord. */
  readonly bytes?: Uint8Array | undefined;
}

export interface VoiceRecording extends AttachedFile {
  /** As its sender says; 0 where unknown. */
  readonly seconds: number;
}

/** Has a server write down what a recording says [G7]; empty for silence. Rejects with `ModelError`. */
export type Transcribe = (
  recording: { readonly bytes: Uint8Array; readonly seconds: number },
  userId: string,
  signal: AbortSignal,
) => Promise<string>;

/** A message by its ids; it is read when needed, as it is then. */
export interface MessageReference {
  readonly id: string;
  readonly channelId: string;
}

/** A forwarded message: quoted data of an unnamed author. */
export interface ForwardedMessage extends Pick<ChatMessage, 'shown'> {
  readonly text: string;
  /** When the original was written; ISO 8601, UTC. */
  readonly at: string;
  readonly files: readonly AttachedFile[];
}

/** The message that another one replies to: quoted data. */
export interface RepliedMessage extends ChatMessage {
  readonly files: readonly AttachedFile[];
  readonly forwards?: readonly ForwardedMessage[];
}

/** A command, written or given as a slash command. */
export interface CommandCall {
  readonly name: string;
  /** Empty where none was given. */
  readonly subcommand: string;
  /** As given; unchecked. */
  readonly options: Readonly<Record<string, string>>;
  /** Written words that no option takes. */
  readonly extra?: string;
  /** The name as written, if only close to a command's: nothing is done, the person is asked [K1]. */
  readonly misspelt?: string;
}

/** For the answered person only; gives a command, whose answer only they see, also after a restart. */
export interface CommandButton {
  /** At most 80 characters. */
  readonly label: string;
  /** The command without `!`, at most 70 characters; absent where it only removes the buttons. */
  readonly line?: string;
  /** Opened by it, in place of a command; at most 512 characters. */
  readonly url?: string;
  /** What it does cannot be undone. */
  readonly isDanger?: true;
  /** What goes once it is pressed, `answer` with the next one. Default: `all` but those that take nothing. */
  readonly takes?: 'all' | 'itself' | 'nothing' | 'answer';
  /** Opens a form; the buttons go once that is submitted. */
  readonly opensForm?: true;
}

export interface ButtonsOfPerson {
  readonly personId: string;
  readonly buttons: readonly CommandButton[];
}

/** Small last lines of an answer, in the bot's own words, and their buttons [K6]; no part of history [F2]. */
export interface Footer extends ButtonsOfPerson {
  readonly lines: readonly string[];
}

/** A footer without the person it is for. */
export type FooterParts = Omit<Footer, 'personId'>;

/** When the bot answers in a guild channel: to mentions and replies, also to who goes on talking with it, or to everything [G2]. */
export type AnswerMode = 'mentions' | 'conversation' | 'everything';

/** A message to the bot from somebody with access. */
export interface IncomingMessage extends ChatMessage {
  readonly place: Place;
  readonly isOwner: boolean;
  readonly files?: readonly AttachedFile[];
  /** Of a voice message without a text. */
  readonly voice?: VoiceRecording;
  readonly repliesTo?: MessageReference;
  readonly forwards?: readonly ForwardedMessage[];
  /** As `CommandContext` has it. */
  readonly mentions?: readonly string[];
  /** Where the message is a command [K1]; absent for a turn. */
  readonly command?: CommandCall;
  /** The copy that a proxy posted: nothing is removed without a button [G2a]. */
  readonly isProxied?: true | undefined;
}

export interface MessageEdit extends Omit<Extract<MessageChange, { kind: 'edited' }>, 'kind'> {
  /** It is a command now. Edits carry out no commands: the message counts as deleted [F2]. */
  readonly isCommand: boolean;
}

/** Older messages are not answered after a gap [G3a]; milliseconds. */
export const catchUpWindowMs = 5 * 60_000;

/** A message in somebody's log, to be compared with the channel. */
export interface RememberedMessage {
  readonly ids: readonly string[];
  /** An answer of this bot. */
  readonly isOwn: boolean;
}

/** Where a growing reply belongs, and its callbacks. None of them may reject. */
export interface ReplyStart {
  readonly channelId: string;
  /** As for `send`. */
  readonly nonceBase: string;
  /** Messages from before a restart, which become the first of the reply. */
  readonly standing?: readonly string[];
  /** Asked before each post or edit; after `false`, nothing more is shown. */
  readonly mayShow: () => Promise<boolean>;
  /** Awaited with all ids of the reply before it shows, before each enters history, and before one is deleted. */
  readonly onMessages: (messageIds: readonly string[]) => Promise<void>;
  /** Somebody deleted one of its messages. */
  readonly onGone: () => void;
}

export type FinishedReply =
  | { readonly kind: 'sent'; readonly ids: readonly string[] }
  /** Somebody deleted it meanwhile; the rest was not touched. */
  | { readonly kind: 'gone' }
  /** It may not be shown any more, or was taken away. */
  | { readonly kind: 'withheld' }
  /** Discord refuses it for good [G3d]; `ids` is what stands of it. */
  | { readonly kind: 'refused'; readonly ids: readonly string[]; readonly reason: RefusalReason };

/** Discord refuses the text itself, or any text in that place. */
export type RefusalReason = 'content' | 'place';

/** A reply that is shown while it is being made [G3]. */
export interface GrowingReply {
  /** Whether anything of it was posted, or is being posted. */
  hasBegun(): boolean;
  /** The text so far; shown when Discord's limits allow it. Never throws. */
  show(text: string): void;
  /** `finish` follows shortly: until then nothing more is shown, so that it takes one request. Never throws. */
  hold(): void;
  /** Ends with exactly this text, the footer in its last message. Rejects only with what may pass. */
  finish(text: string, footer?: Footer): Promise<FinishedReply>;
  /** Removes what was shown, also while it is being finished; does nothing once it was sent. Never rejects. */
  takeAway(): Promise<void>;
}

export interface AskedMessage extends SessionKey {
  readonly id: string;
}

/** What stands of a message and its reply in the channel. */
export interface FoundReply {
  readonly isAsked: boolean;
  /** The bot's messages that reply to it. */
  readonly ids: readonly string[];
  /** Discord lets the bot look no more, for good; the rest is unknown. */
  readonly isRefused?: true;
}

/** The typing indicator; neither throws. */
export interface Typing {
  show(): void;
  end(): void;
}

/** How a reply leaves: `discord/` implements it, `turn/` calls it. */
export interface ReplyPort {
  /** Shows "is typing…" after a moment, so that quick answers come first. Never throws. */
  typing(channelId: string): Typing;
  /**
   * Sends a text in chunks of at most 2,000 characters, in order, pinging nobody. `nonceBase` is the id of the
   * message answered: a second call with it sends nothing twice [G3]. `beforeSeen` is awaited with each
   * message's id before it enters history [F2]; it must not reject. Resolves and rejects as `finish` does.
   */
  send(
    channelId: string,
    text: string,
    nonceBase: string,
    beforeSeen?: (messageId: string) => Promise<void>,
    buttons?: ButtonsOfPerson,
  ): Promise<FinishedReply>;
  /** Tells a person that Discord refuses their answer for good: ⚠️, a line in a DM, or the log [G3d]. Never rejects. */
  tellRefused(
    question: {
      readonly channelId: string;
      readonly messageId: string;
      readonly userId: string;
      readonly isBot?: true;
      readonly isDm: boolean;
    },
    reason: RefusalReason,
  ): Promise<void>;
  /** The model's answer: its own lines in small print show their sign, so that none looks like a footer. */
  begin(start: ReplyStart): GrowingReply;
  /**
   * Changes the footer of a message that stands, which notifies nobody. `change` gets what stands there now;
   * `undefined` leaves it. Resolves with whether that could be done; never rejects.
   */
  amend(
    channelId: string,
    messageId: string,
    change: (standing: FooterParts) => Promise<Footer | undefined>,
  ): Promise<boolean>;
  /** Looks for a message and the bot's replies to it. Rejects with what may pass. */
  find(channelId: string, messageId: string): Promise<FoundReply>;
}

export interface OutgoingFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** One direct message; a long text is split. */
export interface DirectMessage {
  readonly text: string;
  readonly files?: readonly OutgoingFile[];
  /** For the receiver, under the last part. */
  readonly buttons?: readonly CommandButton[];
}

/** Direct messages outside of a conversation; answers to commands are not part of history [F2]. */
export interface DirectMessagePort {
  /**
   * Sends in order, pinging nobody. `nonceBase` is the command's id: a second call with it sends nothing twice.
   * `beforeSeen` is awaited with each message sent; it must not reject. `closed`: the person accepts none.
   * Rejects with what may pass.
   */
  send(
    userId: string,
    messages: readonly DirectMessage[],
    nonceBase: string,
    beforeSeen: (channelId: string, messageId: string) => Promise<void>,
  ): Promise<'sent' | 'closed'>;
  /** Deletes the bot's messages in a DM older than one; `isAll: false` where there are more. Rejects as `send`. */
  deleteOwn(
    channelId: string,
    before: string,
  ): Promise<{ readonly deleted: number; readonly isAll: boolean }>;
}

/** The bot's reactions: 👀 while a message waits, 🚫 where it is not taken [L1]. Neither throws nor delays. */
export interface WaitingReactionPort {
  add(channelId: string, messageId: string): void;
  /** Removes 👀, also one that an earlier process left. */
  remove(channelId: string, messageId: string): void;
  /** Puts 🚫, or 🔒 where the author has no access [G1]. */
  refuse(channelId: string, messageId: string, sign?: '🚫' | '🔒'): void;
}

/** The newest messages of a channel, from memory or by REST [H2]. */
export interface HistoryPort {
  /** At most `limit`, oldest first, current ones included, without commands, their answers and error lines [F2]. */
  recent(channelId: string, limit: number): Promise<readonly ChatMessage[]>;
}

/**
 * Reads the message that another one replies to. `hidden`: a command, its answer or an error line [F2]; `gone`:
 * deleted or unreadable. Never rejects.
 */
export type ReadReplied = (reference: MessageReference) => Promise<RepliedMessage | 'hidden' | 'gone'>;

/** The place with its present readers; unchanged unless somebody new can read it [V2a]. Never rejects. */
export type PresentPlace = (place: Place) => Promise<Place>;

/** What is asked of a guild channel now. Neither rejects: the unknown is absent, or `false`. */
export interface ChannelPort {
  placeOf(this: void, channelId: string): Promise<Place | undefined>;
  /** Whether a person may read its messages, or delete those of others; asks Discord. */
  personMay(capability: 'read' | 'moderate', channelId: string, userId: string): Promise<boolean>;
}

export interface ServerPort {
  /** Whether it is in more than one, counting outages and other processes. */
  hasSeveral(): boolean;
  /** What a person may set there: `manager` has Manage Server. Never rejects: the unknown is `none`. */
  standing(guildId: string, userId: string): Promise<'administrator' | 'manager' | 'none'>;
  /** A role by id, name or `@name` in any case; `undefined` where there is none, or several. */
  role(guildId: string, named: string): { readonly id: string; readonly name: string } | undefined;
  /** A server's name by its id, or of a role's mention `@name in server`; unchanged where none here has it. */
  titleOf(guildOrMention: string): string;
}

export type OpenedFile =
  | {
      readonly kind: 'image';
      readonly name: string;
      readonly mediaType: (typeof imageTypes)[number];
      /** Base64. */
      readonly data: string;
    }
  /** Base64. */
  | { readonly kind: 'document'; readonly name: string; readonly data: string }
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  /** `reason` is a clause for the model, such as `over 100 KB`. People are told of what a limit leaves out. */
  | {
      readonly kind: 'unopened';
      readonly name: string;
      readonly reason: string;
      readonly isOverLimit?: true;
    };

/**
 * Fetches the files of a turn [G5]. Never rejects: what fails or exceeds a limit of the turn or the person's
 * minute [L1] stays unopened. The result has the order and length of `files`.
 */
export interface AttachmentPort {
  open(files: readonly AttachedFile[], userId: string, signal: AbortSignal): Promise<readonly OpenedFile[]>;
}

/** Fetches one file of any kind that was given to a command. Never rejects. */
export type ReadAttachment = (
  file: AttachedFile,
  userId: string,
  maxBytes: number,
) => Promise<Buffer | 'too-large' | 'unavailable'>;

/** What the gateway hands inward. Implementations never throw, and recognise repeated events. */
export interface BotHandlers {
  /** A turn or a `!memory` command; resolves when it was handled, after-turn work excluded. */
  message(message: IncomingMessage): Promise<void>;
  /** A person with access wrote where channel memory may be on, commands excluded [B1]. Must not throw. */
  onUserMessage(said: {
    readonly guildId: string;
    readonly channelId: string;
    readonly messageId: string;
    readonly authorId: string;
  }): void;
  /** Somebody with access mentioned the bot where it may not write. */
  unanswerable(message: Pick<ChatMessage, 'id' | 'channelId' | 'author'>): Promise<void>;
  /** Somebody without access wrote to the bot, for the first time in a day [G1]; names are as they chose them. */
  lockedOut(asker: {
    readonly userId: string;
    readonly name: string;
    readonly channelName: string | undefined;
    /** Absent in a DM. */
    readonly guildName: string | undefined;
  }): Promise<void>;
  edited(edit: MessageEdit): Promise<void>;
  deleted(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Anybody put an emoji, by its characters or name, on any message that the bot can see. */
  reacted(channelId: string, messageId: string, userId: string, emoji: string): Promise<void>;
}

export interface ChannelWish {
  /** `#name`, a mention or an id; absent for the place itself. */
  readonly channel?: string | undefined;
  readonly userId: string;
  /** Where the answer is read. */
  readonly place: Place;
  readonly isForAskerOnly: boolean;
  /** Default: since the asker's own last message there. */
  readonly since?: Date | undefined;
  /** At most 500. */
  readonly limit: number;
  /** The messages that ask for it: they are left out. */
  readonly askedBy: readonly string[];
}

/**
 * What was said in a channel, oldest first, without commands, their answers and error lines [F2]. `ownLastAt`:
 * the asker's own last message, if found; `isCut`: older messages were not read. `none`: no such channel, or
 * one that bot, asker and every reader of the answer cannot all read; `several`: the name is ambiguous;
 * `age-restricted`: the answer would stand in a channel that is not [V0].
 */
export type ChannelTalk =
  | {
      readonly kind: 'read';
      readonly place: Place;
      readonly messages: readonly ChatMessage[];
      readonly ownLastAt?: string;
      readonly isCut: boolean;
    }
  | { readonly kind: 'none' }
  | { readonly kind: 'several' }
  | { readonly kind: 'age-restricted' };

export type ReadChannel = (wish: ChannelWish) => Promise<ChannelTalk>;
