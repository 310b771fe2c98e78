import type { MessageChange } from './changes.ts';
import type { imageTypes } from './model.ts';
import type { Place, SessionKey } from './place.ts';

/** Discord's limit for a message of a bot, in characters (UTF-16 units). */
export const sentMaxChars = 2000;

/** A message of a channel as history sees it. */
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
  /** File names only. */
  readonly attachments: readonly string[];
  /** What else people see of it, not its author's prose; absent where there is nothing. */
  readonly shown?: readonly ShownPiece[];
  /**
   * It brought along what its author did not write there: a file, a message passed on, an answer to somebody else; of this bot's own, words that it
   * sent there for somebody [M5a].
   */
  readonly hasThirdPartyText?: true;
  /** Of this bot's own: the message that it answers, where it was sent as a reply to one. */
  readonly answers?: string;
}

/** A message that was passed on, a poll, a voice message, a card (an embed, a link's preview, a component's text) or a sticker, as a line of short text. */
export interface ShownPiece {
  readonly kind: 'forwarded message' | 'poll' | 'voice message' | 'card' | 'sticker';
  readonly text: string;
}

/** Whether its words were made by somebody else than who wrote the message [M5a]. */
export function isOthersText({ kind }: ShownPiece): boolean {
  return kind === 'card' || kind === 'sticker' || kind === 'forwarded message';
}

/** Whether it has files or messages passed on, of which a message that was read for history tells in short or by name only. */
export function hasEnclosures({
  attachments,
  shown = [],
}: Pick<ChatMessage, 'attachments' | 'shown'>): boolean {
  return attachments.length > 0 || shown.some(({ kind }) => kind === 'forwarded message');
}

/** A file that hangs on a message, not opened yet. */
export interface AttachedFile {
  readonly name: string;
  /** Bytes, as Discord tells. */
  readonly size: number;
  /** The longer side of a picture in pixels, as Discord tells. */
  readonly pixels?: number;
  /** Where it is to be had; Discord's addresses hold for a day. */
  readonly url: string;
}

/** A message by its ids; what it says is read when it is needed, and counts as it is then. */
export interface MessageReference {
  readonly id: string;
  readonly channelId: string;
}

/** A message that was passed on from wherever it was written: quoted data of an unnamed author. */
export interface ForwardedMessage extends Pick<ChatMessage, 'shown'> {
  readonly text: string;
  /** When it was written where it comes from; ISO 8601, UTC. */
  readonly at: string;
  readonly files: readonly AttachedFile[];
}

/** The message that another one replies to: quoted data, whoever wrote it. */
export interface RepliedMessage extends ChatMessage {
  readonly files: readonly AttachedFile[];
  readonly forwards?: readonly ForwardedMessage[];
}

/** A command and what is given to it, the same whether it was written or given as a slash command. */
export interface CommandCall {
  readonly name: string;
  /** Empty where none was given. */
  readonly subcommand: string;
  /** By name, as given; what they have to be, the definition of the command says. */
  readonly options: Readonly<Record<string, string>>;
  /** Written words that no option takes. */
  readonly extra?: string;
  /** The command's name as it was written, where it is only close to it: nothing is done, and the person is asked what was meant [K1]. */
  readonly misspelt?: string;
}

/**
 * A button under an answer, for the person who was answered alone: pressing it gives a command, whose answer only they see. It works after a restart
 * too. The buttons beside it go with it, since what they offered is over.
 */
export interface CommandButton {
  /** At most 80 characters. */
  readonly label: string;
  /** The command as it would be written, without `!`, such as `memory undo 1a2b`, at most 70 characters; absent where it only takes the buttons away. */
  readonly line?: string;
  /** What it does cannot be undone. */
  readonly isDanger?: true;
  /** The others stay. */
  readonly keepsOthers?: true;
  /** Its command is answered with a form, which opens at once; the buttons go when that is sent off. */
  readonly opensForm?: true;
  /** It only tells something: it stays as well. */
  readonly stays?: true;
  /** What its command is answered with takes the place of the answer that it stands under: one that only its person sees. */
  readonly updates?: true;
}

/** Buttons and whose they are. */
export interface ButtonsOfPerson {
  readonly personId: string;
  readonly buttons: readonly CommandButton[];
}

/** When the bot answers in a guild channel: to mentions and replies only, or to everything that people say there. */
export type AnswerMode = 'mentions' | 'everything';

/** A message that intake has let through: from somebody with access, addressed to the bot. */
export interface IncomingMessage extends ChatMessage {
  readonly place: Place;
  readonly isOwner: boolean;
  readonly files?: readonly AttachedFile[];
  readonly repliesTo?: MessageReference;
  readonly forwards?: readonly ForwardedMessage[];
  /** Where the message is a command [K1]; absent for a turn. */
  readonly command?: CommandCall;
}

/** A message as it reads after somebody edited it. */
export interface MessageEdit extends Omit<Extract<MessageChange, { kind: 'edited' }>, 'kind'> {
  /** It reads as a command now. Commands are not carried out by edits: the message is withdrawn, as if it were deleted [F2]. */
  readonly isCommand: boolean;
}

/** Messages older than this are not answered any more after a gap [G3a]: 5 minutes, in milliseconds. */
export const catchUpWindowMs = 5 * 60_000;

/** A message that is in somebody's log, to be compared with what stands in the channel. */
export interface RememberedMessage {
  /** All that it was sent as. */
  readonly ids: readonly string[];
  /** An answer of this bot. */
  readonly isOwn: boolean;
}

/** Where a reply that grows belongs, and what it asks and tells on its way. None of the functions may reject. */
export interface ReplyStart {
  readonly channelId: string;
  /** As for `send`. */
  readonly nonceBase: string;
  /** Messages that stand there from before a restart: they become the first ones of the reply. */
  readonly standing?: readonly string[];
  /** Asked before each message that is posted or edited; after a no, nothing more is shown. */
  readonly mayShow: () => Promise<boolean>;
  /**
   * Awaited with the ids of all messages that the reply has: before the first is posted, before each one enters history, and before one
   * that has become superfluous is deleted.
   */
  readonly onMessages: (messageIds: readonly string[]) => Promise<void>;
  /** Somebody has deleted one of its messages, as Discord says only now. */
  readonly onGone: () => void;
  /** Under the last message, once it is posted whole. */
  readonly buttons?: ButtonsOfPerson | undefined;
}

/** What became of a reply. */
export type FinishedReply =
  | { readonly kind: 'sent'; readonly ids: readonly string[] }
  /** Somebody deleted it meanwhile; what is left of it was not touched any more. */
  | { readonly kind: 'gone' }
  /** It may not be shown any more, or was taken away. */
  | { readonly kind: 'withheld' }
  /** Discord refuses it for good, as it would again [G3d]; `ids` is what stands of it. */
  | { readonly kind: 'refused'; readonly ids: readonly string[]; readonly reason: RefusalReason };

/** Why Discord refuses an answer for good: because of what it says, or whatever it says in that place. */
export type RefusalReason = 'content' | 'place';

/** A reply that grows before people's eyes while its text is being made [G3]. */
export interface GrowingReply {
  /** Whether anything of it was posted, or is being posted. */
  hasBegun(): boolean;
  /** The text so far; only the latest counts. Shown when Discord's limits allow it. Never throws. */
  show(text: string): void;
  /** The text is whole, and `finish` follows in a moment: until then nothing more is shown, so that it comes in one request. Never throws. */
  hold(): void;
  /**
   * The whole text: its messages end up exactly as `send` would have put them there. Rejects only with what may pass by itself: a connection or
   * a server that failed, after some tries. The buttons come with the last message.
   */
  finish(text: string, buttons?: ButtonsOfPerson): Promise<FinishedReply>;
  /** Takes away all that was shown of it, also while it is being finished. Never rejects; nothing once it was sent. */
  takeAway(): Promise<void>;
}

/** A message that was said to the bot, and by whom. */
export interface AskedMessage extends SessionKey {
  readonly id: string;
}

/** What stands of a message and its reply in the channel. */
export interface FoundReply {
  /** Whether the message itself is there. */
  readonly isAsked: boolean;
  /** The ids of the bot's messages that point to it. */
  readonly ids: readonly string[];
  /** Discord lets the bot look no more, for good; then nothing of the above is known. */
  readonly isRefused?: true;
}

/** That the bot is at work, as people see it; neither throws. */
export interface Typing {
  /** Shows it by now. */
  show(): void;
  /** It is shown no more. */
  end(): void;
}

/** How a reply leaves: the port that `discord/` implements and `turn/` calls. */
export interface ReplyPort {
  /** Shows "is typing…" in a moment, so that what is done at once comes first. Never throws. */
  typing(channelId: string): Typing;
  /**
   * Sends a text split into chunks of at most 2,000 characters, in order, pinging nobody. `nonceBase` is the id of the
   * message answered: a second call with the same one sends nothing twice [G3]. Resolves and rejects as `finish` does.
   * `beforeSeen` is awaited with the id of each message that is there, before it enters history, so that what is to be no part of it
   * never stands in it [F2], also when a later chunk fails; it must not reject. The last one has the buttons.
   */
  send(
    channelId: string,
    text: string,
    nonceBase: string,
    beforeSeen?: (messageId: string) => Promise<void>,
    buttons?: ButtonsOfPerson,
  ): Promise<FinishedReply>;
  /**
   * Tells a person that Discord refuses the answer to their message for good, by one sign: ⚠️ on the message, or, where that is refused too, one
   * line in a DM; otherwise the log has it [G3d]. Another bot is sent no DM. Never rejects.
   */
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
  /** Begins a reply that grows; nothing is sent yet. */
  begin(start: ReplyStart): GrowingReply;
  /** Looks at a message and the bot's replies to it. Rejects with what may pass by itself. */
  find(channelId: string, messageId: string): Promise<FoundReply>;
}

/** A file that the bot sends. */
export interface OutgoingFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** One direct message; a long text is split. */
export interface DirectMessage {
  readonly text: string;
  readonly files?: readonly OutgoingFile[];
}

/** Direct messages outside of a conversation: those that answer a command are no part of history [F2]. */
export interface DirectMessagePort {
  /**
   * Sends them in order, pinging nobody. `nonceBase` is the id of the command: a second call with the same one sends nothing twice. `beforeSeen` is awaited with each
   * that was sent; it must not reject. `closed`: the person takes none from the bot. Rejects with what may pass by itself.
   */
  send(
    userId: string,
    messages: readonly DirectMessage[],
    nonceBase: string,
    beforeSeen: (channelId: string, messageId: string) => Promise<void>,
  ): Promise<'sent' | 'closed'>;
  /** Deletes the bot's own messages in a DM that are older than one, oldest first; `isAll: false` where there are more than it deletes at a time. Rejects as `send`. */
  deleteOwn(
    channelId: string,
    before: string,
  ): Promise<{ readonly deleted: number; readonly isAll: boolean }>;
}

/** The bot's reactions on messages: 👀 where they have to wait, 🚫 where they are not taken [L1]. Neither throws nor delays anything; where a channel admits no reaction, none is put. */
export interface WaitingReactionPort {
  add(channelId: string, messageId: string): void;
  /** Takes 👀 away again, also one that an earlier process left; where there is none, nothing happens. */
  remove(channelId: string, messageId: string): void;
  /** Puts a sign that stays: 🚫, or 🔒 where the author has no access [G1]. */
  refuse(channelId: string, messageId: string, sign?: '🚫' | '🔒'): void;
}

/** The newest messages of a channel: warm ones from memory, REST for a cold channel [H2]. */
export interface HistoryPort {
  /**
   * At most `limit` messages, oldest first, the current ones included; commands, their answers and error lines left out [F2]. (What a
   * speaker wrote while a turn ran is older than that turn's reply, so "before a message" would miss the reply.)
   */
  recent(channelId: string, limit: number): Promise<readonly ChatMessage[]>;
}

/**
 * Reads the message that another one replies to. `hidden`: a command, its answer or an error line, which no model hears of [F2];
 * `gone`: deleted, or not to be read by the bot. Never rejects.
 */
export type ReadReplied = (reference: MessageReference) => Promise<RepliedMessage | 'hidden' | 'gone'>;

/**
 * A place with those who can read along by now: the place as given, unless somebody can read it who could not then [V2a], or that cannot be known
 * any more [V0]. Never rejects.
 */
export type PresentPlace = (place: Place) => Promise<Place>;

/** What is asked of a channel or thread of a server, at this moment. Neither rejects: what cannot be known is absent, or `false`. */
export interface ChannelPort {
  /** With those who can read it now. */
  placeOf(this: void, channelId: string): Promise<Place | undefined>;
  /** Whether a person may read its messages, or delete those of others there; asked of Discord anew. */
  personMay(capability: 'read' | 'moderate', channelId: string, userId: string): Promise<boolean>;
}

/** What is asked of the servers that the bot is in. */
export interface ServerPort {
  /** Whether it is in more than one, those with an outage and those of other processes among them. */
  hasSeveral(): boolean;
  /**
   * What a person may set there: its owner and administrators all, `manager` who has Manage Server. Asked of Discord at this moment; never rejects:
   * what cannot be known is `none`.
   */
  standing(guildId: string, userId: string): Promise<'administrator' | 'manager' | 'none'>;
  /** A role by its id, its name or `@name`, case left aside; `undefined` where there is none, or several. */
  role(guildId: string, named: string): { readonly id: string; readonly name: string } | undefined;
}

/** What became of an attached file. */
export type OpenedFile =
  | {
      readonly kind: 'image';
      readonly name: string;
      readonly mediaType: (typeof imageTypes)[number];
      /** Base64. */
      readonly data: string;
    }
  /** A PDF, in base64. */
  | { readonly kind: 'document'; readonly name: string; readonly data: string }
  | { readonly kind: 'text'; readonly name: string; readonly text: string }
  /** Named only; `reason` is a clause for the model, such as `over 100 KB`. What is left out for a limit, people are told too. */
  | {
      readonly kind: 'unopened';
      readonly name: string;
      readonly reason: string;
      readonly isOverLimit?: true;
    };

/**
 * Fetches the files of a person's turn from where Discord keeps them [G5]. Never rejects: what cannot be had, or is over a limit of the turn or
 * of the person's minute [L1], stays unopened. The result has the order and the length of `files`.
 */
export interface AttachmentPort {
  open(files: readonly AttachedFile[], userId: string, signal: AbortSignal): Promise<readonly OpenedFile[]>;
}

/** Fetches one file that was given to a command as it is, of whatever kind. Never rejects. */
export type ReadAttachment = (
  file: AttachedFile,
  userId: string,
  maxBytes: number,
) => Promise<Buffer | 'too-large' | 'unavailable'>;

/** What the gateway hands inward. Implementations never throw into the gateway; repeated events are theirs to recognise. */
export interface BotHandlers {
  /** A turn or a `!memory` command; resolves when it was handled, after-turn work left aside. */
  message(message: IncomingMessage): Promise<void>;
  /** A person with access has written in a channel of a server where channel memory may be on, for the bot or not [B1]; commands left out. Must not throw. */
  spoken(said: {
    readonly guildId: string;
    readonly channelId: string;
    readonly messageId: string;
    readonly authorId: string;
  }): void;
  /** Somebody with access has addressed the bot by name where it may not write. */
  unanswerable(message: Pick<ChatMessage, 'id' | 'channelId' | 'author'>): Promise<void>;
  edited(edit: MessageEdit): Promise<void>;
  deleted(channelId: string, messageIds: readonly string[]): Promise<void>;
  /** Somebody, also without access, has put an emoji, by its characters or name, on any message that the bot can see. */
  reacted(channelId: string, messageId: string, userId: string, emoji: string): Promise<void>;
}
