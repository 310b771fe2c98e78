import { z } from 'zod';

import type { SessionKey } from './place.ts';

/** Discord's limit for a message of a bot, in characters (UTF-16 units). */
export const sentMaxChars = 2000;

export const buttonSchema = z.object({
  /** At most 80 characters. */
  label: z.string(),
  /** The command without `!`, at most 70 characters; absent where it only removes the buttons. */
  line: z.string().optional(),
  /** Opened by it, in place of a command; at most 512 characters. */
  url: z.string().optional(),
  /** What it does cannot be undone. */
  isDanger: z.literal(true).optional(),
  /** What goes once it is pressed, `answer` with the next one. Default: `all` but those that take nothing. */
  takes: z.enum(['all', 'itself', 'nothing', 'answer']).optional(),
  /** Opens a form; the buttons go once that is submitted. */
  opensForm: z.literal(true).optional(),
});

/** For the answered person only; gives a command, whose answer only they see, also after a restart. */
export type CommandButton = Readonly<z.infer<typeof buttonSchema>>;

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

export interface FooterChange extends Pick<Footer, 'lines'> {
  readonly buttons?: ButtonsOfPerson;
}

/** Where a growing reply belongs, and its callbacks. None of them may reject. */
export interface ReplyStart {
  readonly channelId: string;
  /** As for `send`. */
  readonly nonceBase: string;
  /** Messages from before a restart, which become the first of the reply. */
  readonly existingIds?: readonly string[];
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
  hasStarted(): boolean;
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
  readonly questionExists: boolean;
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
  /** Shows "is typing…" while a message is answered, after a moment, so that quick answers come first. Never throws. */
  typing(channelId: string, messageId: string): Typing;
  /**
   * Sends a text in chunks of at most 2,000 characters, in order, pinging nobody. `nonceBase` is the id of the
   * message answered: a second call with it sends nothing twice [G3]. `beforeSeen` is awaited with each
   * message's id before it enters history [F2]; it must not reject. `mayShow` is asked before each try; default: always.
   * Resolves and rejects as `finish` does.
   */
  send(
    channelId: string,
    text: string,
    nonceBase: string,
    beforeSeen?: (messageId: string) => Promise<void>,
    buttons?: ButtonsOfPerson,
    mayShow?: () => Promise<boolean>,
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
   * Changes the footer of a message that stands, which notifies nobody. `change` gets the lines that stand there now;
   * without buttons, those there stay; `undefined` leaves all. Resolves with whether that could be done; never rejects.
   */
  amend(
    channelId: string,
    messageId: string,
    change: (lines: readonly string[]) => Promise<FooterChange | undefined>,
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

/** What the bot says at a moment, unasked [RM3]; without `channelId` to its person directly. */
export interface ReminderPost {
  /** Whether the person can read the channel now; what cannot be known counts as no. Never rejects. */
  mayRead(userId: string, channelId: string): Promise<boolean>;
  /**
   * Posts one message, which mentions its person alone. `mayShow` is asked before each try: after `false` it is withheld.
   * Rejects with what may pass.
   */
  send(message: {
    readonly userId: string;
    readonly channelId?: string | undefined;
    readonly text: string;
    readonly buttons: readonly CommandButton[];
    /** At most 25 characters. */
    readonly nonce: string;
    readonly mayShow: () => Promise<boolean>;
  }): Promise<PostedMessage | 'refused' | 'withheld'>;
  /** Looks for one of the bot's messages since a moment, ISO 8601, that says `mark` or has it in its buttons. Rejects with what may pass. */
  find(message: {
    readonly userId: string;
    readonly channelId?: string | undefined;
    readonly at: string;
    readonly mark: string;
  }): Promise<PostedMessage | undefined>;
}

export interface PostedMessage {
  readonly channelId: string;
  readonly messageId: string;
}

/** How a reminder that comes begins: by that history leaves it out, and what is replied to shows it [RM5]. */
export const reminderSign = '⏰ ';

/** The bot's reactions: 👀 while a message waits, 🚫 where it is not taken [L1]. Neither throws nor delays. */
export interface WaitingReactionPort {
  add(channelId: string, messageId: string): void;
  /** Removes 👀, also one that an earlier process left. */
  remove(channelId: string, messageId: string): void;
  /** Puts 🚫, or 🔒 where the author has no access [G1]. */
  refuse(channelId: string, messageId: string, sign?: '🚫' | '🔒'): void;
}
