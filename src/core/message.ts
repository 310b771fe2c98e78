import type { MessageChange, RecentChanges } from './changes.ts';
import type { imageTypes } from './model.ts';
import type { Place } from './place.ts';

/** A message of a channel, as history has it. */
export interface ChatMessage {
  readonly id: string;
  readonly channelId: string;
  readonly author: {
    readonly id: string;
    readonly name: string;
    /** `self` is this bot; another bot is not this bot [H2]. */
    readonly kind: 'human' | 'self' | 'bot';
    /** A proxy's, which posts under several names for one account [G2a]. */
    readonly isProxied?: true | undefined;
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
  /** Of the bot's own: whose words it says in a server, as a reminder or since they asked it to. */
  readonly saidFor?: string | undefined;
  /** Of other people's: the message in the same channel that it replies to. */
  readonly repliesTo?: MessageReference | undefined;
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
  /** The encoding that the type of a text declares. */
  readonly charset?: string | undefined;
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

/** A message to the bot from somebody with access. */
export interface IncomingMessage extends ChatMessage {
  readonly place: Place;
  readonly isOwner: boolean;
  readonly files?: readonly AttachedFile[];
  /** Of a voice message without a text. */
  readonly voice?: VoiceRecording;
  readonly forwards?: readonly ForwardedMessage[];
  /** As `CommandContext` has it. */
  readonly mentions?: readonly string[];
  /** Where the message is a command [K1]; absent for a turn. */
  readonly command?: CommandCall;
  /** The copy that a proxy posted: nothing is removed without a button [G2a]. */
  readonly isProxied?: true | undefined;
  /** The id of what it is a copy of. */
  readonly originalId?: string | undefined;
  /** Where `/ask` was used [EW2]: the message stands in no channel, and is a turn of its own in its author's DM. */
  readonly askedIn?: Place | undefined;
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

/**
 * Reads the message that another one replies to. `hidden`: a command, its answer or an error line [F2]; `gone`:
 * deleted or unreadable. Never rejects.
 */
export type ReadReplied = (reference: MessageReference) => Promise<RepliedMessage | 'hidden' | 'gone'>;

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

/** By which people stop an answer. */
export const stopEmoji = '🛑';

/** What the gateway hands inward. Implementations never throw, and recognise repeated events. */
export interface BotHandlers {
  /** A turn or a `!memory` command; resolves when it was handled, after-turn work excluded. */
  message(message: IncomingMessage): Promise<void>;
  /** Notes on disk that an `/ask` is to be answered, since Discord keeps no message of it, or is not after all [EW2]. */
  asked(message: IncomingMessage, state: 'begun' | 'dropped'): Promise<void>;
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
