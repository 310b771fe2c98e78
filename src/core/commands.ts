import type { AttachedFile, ChatMessage, CommandCall, MessageReference } from './message.ts';
import type { CommandButton, OutgoingFile } from './reply.ts';
import type { UsageReport } from './model.ts';
import type { Place } from './place.ts';
import type { PartSize } from './section.ts';
import type { Speaker } from './turn-context.ts';
import type { Visibility } from './visibility.ts';
import type { Work } from './writes.ts';

/** A command as data, from which its written form, slash form and the handler's types are made. */
export interface CommandDefinition {
  readonly name: string;
  readonly description: string;
  /** For the bot's owner only; others get this line. */
  readonly ownerOnly?: string;
  /** For the owner and those with Manage Server [G1]; others get this line. */
  readonly managersOnly?: string;
  /** For servers only; in a DM it is answered with this line. */
  readonly serverOnly?: string;
  readonly subcommands?: Readonly<Record<string, SubcommandDefinition>>;
  /** Descriptions of groups: Discord takes 25 names at the top and 25 in each. Written forms may omit them. */
  readonly groups?: Readonly<Record<string, string>>;
  /** Of a command without subcommands; each is optional. */
  readonly options?: Readonly<Record<string, OptionDefinition & { readonly isOptional: true }>>;
  /** Required with subcommands: `help`, no subcommand, and what was not understood are answered with all that there is. */
  readonly help?: {
    readonly description: string;
    /** Below the list of the subcommands. */
    readonly end: string;
    /** What people call the subcommands, for when none has this name. */
    readonly noun: string;
  };
}

export interface SubcommandDefinition {
  readonly description: string;
  readonly options?: Readonly<Record<string, OptionDefinition>>;
  /** The second step of another command: neither a slash command nor suggested. */
  readonly isHidden?: true;
  /** People who lost access keep it: it is about what is stored of them [G1]. */
  readonly isKept?: true;
  /** Only where nobody else reads the answer: in the DM, or as a slash command. */
  readonly isForAskerOnly?: true;
  /** It works in DMs too, though the command is for servers. */
  readonly isAnywhere?: true;
  /** The group that its slash form stands in. */
  readonly group?: string;
}

export type OptionDefinition = PlainOption | ChoiceOption;

export interface PlainOption {
  readonly description: string;
  /**
   * In the written form, `text` is all that is left over, as written, and `word` and `id` one word; a `role` is named by all
   * that follows, a person or role (`who`) as it was typed (see `CommandContext.mentions`), otherwise each by its id;
   * an `attachment` is the file of the message.
   */
  readonly kind: 'text' | 'word' | 'id' | 'role' | 'who' | 'attachment';
  readonly autocomplete?: true;
  /** The handler itself answers where there is no text. */
  readonly mayBeEmpty?: true;
  readonly isOptional?: true;
  /** The written form has no place for it. */
  readonly isSlashOnly?: true;
}

/** One of a few values; in the written form, in any order with other options. */
export interface ChoiceOption {
  readonly description: string;
  readonly kind: 'choice';
  readonly choices: readonly {
    readonly name: string;
    readonly value: string;
    /** Other words for it in the written form. */
    readonly aliases?: readonly string[];
  }[];
  readonly isOptional?: true;
  readonly isSlashOnly?: true;
}

export interface CommandContext {
  /** What the command writes is part of it. */
  readonly work: Work;
  /** The id of the message or interaction: a snowflake, so it tells the time. */
  readonly id: string;
  readonly speaker: Pick<Speaker, 'id' | 'name' | 'isOwner'>;
  readonly place: Place;
  /** Only the asker sees the answer: everything may be shown, marked [K3]. */
  readonly ephemeral: boolean;
  /** It was given where the bot is not, which counts as the asker's DM [EW1]. */
  readonly isElsewhere?: true | undefined;
  readonly at: string;
  /** The files of the message, or of the options. */
  readonly files?: readonly AttachedFile[];
  /** The asker can save files of the answer as they are, and needs none by direct message. */
  readonly takesFiles?: true;
  /** The name of the token by which another assistant gives it [EW3]: its words are not the person's own. */
  readonly elsewhere?: string | undefined;
  readonly repliesTo?: MessageReference;
  /** Whom a written command mentions, as `<@id>` and `<@&id>`, without the bot. */
  readonly mentions?: readonly string[];
}

export interface CommandRequest extends CommandContext {
  readonly command: CommandCall;
  /** A proxy posted it [G2a]. */
  readonly isProxied?: true | undefined;
}

export interface MenuRequest extends CommandContext {
  /** Of the entry, as people see it. */
  readonly name: string;
  readonly message: ChatMessage;
}

export interface CompletionRequest extends Pick<CommandContext, 'speaker' | 'place'> {
  /** Of the command. */
  readonly name: string;
  /** Empty where the command has none. */
  readonly subcommand: string;
  readonly option: string;
  /** As far as it was typed. */
  readonly typed: string;
}

export interface Choice {
  /** 1 to 100 characters. */
  readonly name: string;
  /** At most 100 characters. */
  readonly value: string;
}

/** With the person's id it makes a custom id, of which Discord takes 100 characters. */
export const buttonLineMaxChars = 70;

export const mostChoices = 25;
export const choiceMaxChars = 100;

/** What Discord takes as the text of a form. */
export const formTextMaxChars = 4000;

/** A form with one text, for the person alone to change. */
export interface CommandForm {
  /** Why it is to be filled in again, where it was refused. */
  readonly reason?: string;
  /** Each at most 45 characters. */
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly maxChars: number;
  /** The command without `!`, at most 70 characters; the written text follows it. */
  readonly line: string;
}

/** Entries of a message's menu that open a window at once, by their names as people see them; of the message's id. */
export type MenuForms = Readonly<Record<string, (messageId: string) => CommandForm>>;

/** A menu of a few values, which gives a command, whose answer replaces the one it is under. */
export interface CommandSelect {
  /** At most 150 characters. */
  readonly placeholder: string;
  /** The command without `!`, at most 70 characters: the chosen value follows it. */
  readonly line: string;
  /** 1 to 25; of a value at most 100 characters, each once. */
  readonly options: readonly {
    readonly label: string;
    readonly value: string;
    readonly description?: string;
    readonly isChosen?: boolean;
  }[];
}

/** An item as its owner may see it where the answer is read. */
export interface ShownItem {
  readonly id: string;
  readonly kind: string;
  readonly text: string;
  /** The bot's question that the text answers [D1a]. */
  readonly question?: string | undefined;
  /** Also `dm` for one whose server or readers nobody knows [V2a]. */
  readonly visibility: Visibility;
  readonly source: 'manual' | 'discord' | 'summary' | 'elsewhere';
  readonly channelName?: string | undefined;
  /** ISO 8601; absent where nobody knows. */
  readonly updatedAt?: string | undefined;
  /** The day it speaks of, `YYYY-MM-DD` [D7]. */
  readonly when?: string | undefined;
  readonly isOver: boolean;
  /** It speaks of today or a day that is still to come. */
  readonly isAhead?: boolean;
  readonly isPinned: boolean;
}

/** What an answer says, for a page that lays it out by itself. */
export type CommandData =
  | ShownMemory
  /** Of the owner's `status`: no words or names of people; without `usage` where that cannot be read. */
  | {
      readonly kind: 'status';
      readonly facts: readonly StatusFact[];
      readonly usage?: UsageReport | undefined;
    }
  /** What is asked of their person. */
  | { readonly kind: 'review' | 'proposals' | 'reminders'; readonly cards: readonly ShownCard[] }
  /** The newest first, or the one that was named [Y2a]. */
  | { readonly kind: 'answers'; readonly answers: readonly ShownAnswer[] }
  /** All, or all of one. */
  | { readonly kind: 'conversations'; readonly conversations: readonly ShownConversation[] }
  /** The best first. */
  | { readonly kind: 'found'; readonly results: readonly ShownResult[] }
  | { readonly kind: 'notebook'; readonly files: readonly ShownFile[] };

/** What `show` lists. */
export interface ShownMemory {
  readonly kind: 'memory';
  /** Pinned first, then newest; absent where items are switched off. */
  readonly items?: readonly ShownItem[] | undefined;
  readonly mode: 'auto' | 'ask' | 'off';
  readonly pause?: 'here' | 'everywhere' | undefined;
}

export interface ShownCard {
  readonly question: string;
  /** One, or two of one matter; a proposal has its own id in place of an item's. */
  readonly items: readonly ShownItem[];
  readonly buttons: readonly CommandButton[];
}

/** One answer: what its model was given, by name and size. */
export interface ShownAnswer {
  /** Of the message that was answered. */
  readonly id: string;
  /** When and where it was, and what it took, as Discord shows it. */
  readonly title: string;
  readonly took: string;
  /** In the order of the request, each name once. */
  readonly parts: readonly ShownPart[];
  /** The asker's own words in it, as far as they are still there; only of the one that was named. */
  readonly own?: readonly { readonly title: string; readonly texts: readonly string[] }[] | undefined;
}

export interface ShownPart extends PartSize {
  readonly title: string;
}

export interface ShownConversation {
  readonly channelId: string;
  readonly title: string;
  /** On Discord. */
  readonly link: string;
  readonly summary?: string | undefined;
  /** Read of one conversation alone. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

export interface ShownResult {
  readonly text: string;
  /** Local; empty where nobody knows. */
  readonly date: string;
  readonly visibility: Visibility;
  /** The item with this id, the message at this address, or a file by its path and line. */
  readonly origin: { readonly itemId: string } | { readonly link: string } | { readonly file: string };
}

/** Of the notebook. */
export interface ShownFile {
  readonly path: string;
  readonly bytes: number;
  readonly summary: string;
}

/** What is so right now. */
export interface StatusFact {
  readonly title: string;
  readonly text: string;
  /** Somebody should look at it. */
  readonly isBad?: boolean;
}

/** The answer to a command, as data. */
export interface CommandReply {
  /** Lines of any length; not empty. */
  readonly text: string;
  /** At most 25. */
  readonly buttons?: readonly CommandButton[] | undefined;
  /** In place of `buttons`, where the asker alone sees the answer: up to 5 rows of 5 buttons or one menu. */
  readonly rows?: readonly (readonly CommandButton[] | CommandSelect)[];
  /** Opened in place of the answer where a button asks for it. */
  readonly form?: CommandForm;
  /** Only where the asker alone sees the answer: each a message below it. */
  readonly files?: readonly OutgoingFile[];
  /** Absent where something could not be read; Discord shows the text alone. */
  readonly data?: CommandData | undefined;
  /** It ends what is kept of the person, so nothing follows, not even that they had the first words [K11]. */
  readonly isFarewell?: true;
  /** To be called when it is known whether the person has the answer. Never rejects. */
  readonly onReplied?: (wasSent: boolean) => Promise<void>;
}

/** What has just been given, before its work begins. */
export type Unstarted<Request extends CommandContext> = Omit<Request, 'work'>;

/** None of them rejects. */
export interface CommandHandlers {
  command(request: Unstarted<CommandRequest>): Promise<CommandReply>;
  menu(request: Unstarted<MenuRequest>): Promise<CommandReply>;
  complete(request: CompletionRequest): Promise<readonly Choice[]>;
}

/** The same, once the work has begun. */
export interface StartedCommandHandlers extends Pick<CommandHandlers, 'complete'> {
  command(request: CommandRequest): Promise<CommandReply>;
  menu(request: MenuRequest): Promise<CommandReply>;
}
