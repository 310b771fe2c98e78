import type {
  AttachedFile,
  ChatMessage,
  CommandButton,
  CommandCall,
  MessageReference,
  OutgoingFile,
} from './chat.ts';
import type { Place } from './place.ts';
import type { Speaker } from './turn-context.ts';

/** A command, as data: its written form, its slash form and the types of what its handler is given are all made from this. */
export interface CommandDefinition {
  readonly name: string;
  readonly description: string;
  /** The bot's owner alone may give it; everybody else is answered with this line. */
  readonly ownerOnly?: string;
  /** Besides the bot's owner, who has Manage Server may give it in that server [G1]; everybody else is answered with this line. */
  readonly managersOnly?: string;
  /** It makes sense in servers alone; in a DM it is answered with this line. */
  readonly serverOnly?: string;
  readonly subcommands?: Readonly<Record<string, SubcommandDefinition>>;
  /** By their names what groups of subcommands are about: Discord takes 25 names at the top, and 25 in each group. Where a command is written, the group may be left out. */
  readonly groups?: Readonly<Record<string, string>>;
  /** Of a command without subcommands; each is optional. */
  readonly options?: Readonly<Record<string, TextOption & { readonly isOptional: true }>>;
  /** There wherever there are subcommands: the answer to `help`, to no subcommand, and after what was not understood. */
  readonly help?: {
    readonly description: string;
    readonly text: string;
    /** What people call the subcommands, where they are told that there is none of this name. */
    readonly noun: string;
  };
}

export interface SubcommandDefinition {
  readonly description: string;
  readonly options?: Readonly<Record<string, OptionDefinition>>;
  /** Said before the help where the options are not understood. */
  readonly misuse?: string;
  /** The second step of another one, which offers it: it is neither a slash command nor suggested. */
  readonly isHidden?: true;
  /** The group that its slash form stands in. */
  readonly group?: string;
}

export type OptionDefinition = TextOption | ChoiceOption | RoleOption | AttachmentOption;

export interface TextOption {
  readonly description: string;
  /** Where it is written: `text` is all that follows the subcommand and the words that other options take, as it stands; `word` is one word. */
  readonly kind: 'text' | 'word';
  /** The command offers values while somebody types. */
  readonly autocomplete?: true;
  /** The handler itself answers where there is no text. */
  readonly mayBeEmpty?: true;
  readonly isOptional?: true;
}

/** A role of the server, by its id; where it is written, all that follows the subcommand names it. */
export interface RoleOption {
  readonly description: string;
  readonly kind: 'role';
}

/** A file; where the command is written, the one that is attached to it. */
export interface AttachmentOption {
  readonly description: string;
  readonly kind: 'attachment';
}

/** One of a few values; where it is written, its word may stand in any order with other options. */
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
}

/** Who gives a command, where and when. */
export interface CommandContext {
  /** The id of the message or interaction: a snowflake, so it tells when the command was given. */
  readonly id: string;
  readonly speaker: Pick<Speaker, 'id' | 'name' | 'isOwner'>;
  readonly place: Place;
  /** Only the asker sees the answer: everything may be shown, marked [K3]. */
  readonly ephemeral: boolean;
  readonly at: string;
  /** What came along with it: the files of the message, or of the options. */
  readonly files?: readonly AttachedFile[];
  /** The message that it was written in reply to. */
  readonly repliesTo?: MessageReference;
}

/** A command, given as `!memory …` or `/memory …`. */
export interface CommandRequest extends CommandContext {
  readonly command: CommandCall;
}

/** Somebody chose an entry in a message's menu. */
export interface MenuRequest extends CommandContext {
  /** Of the entry, as people see it. */
  readonly name: string;
  readonly message: ChatMessage;
}

/** Somebody is typing the value of an option. */
export interface CompletionRequest extends Pick<CommandContext, 'speaker' | 'place'> {
  /** Of the command. */
  readonly name: string;
  /** Empty where the command has none. */
  readonly subcommand: string;
  readonly option: string;
  /** As far as it was typed. */
  readonly typed: string;
}

/** A value that is offered while typing. */
export interface Choice {
  /** 1 to 100 characters. */
  readonly name: string;
  /** At most 100 characters. */
  readonly value: string;
}

/** Characters of a button's command at most: with whose it is, it makes the custom id, of which Discord takes 100. */
export const buttonLineMaxChars = 70;

/** What Discord shows while somebody types. */
export const mostChoices = 25;
export const choiceMaxChars = 100;

/** A window with one text, for the person alone to change. */
export interface CommandForm {
  /** Each at most 45 characters. */
  readonly title: string;
  readonly label: string;
  /** What stands in it when it opens. */
  readonly value: string;
  readonly maxChars: number;
  /** The command that it gives, without `!`, such as `memory edit 1a2b`, at most 70 characters: what was written follows it. */
  readonly line: string;
}

/** A choice of one among a few values, which gives a command and `updates` as a button does. */
export interface CommandSelect {
  /** Said where nothing is chosen; at most 150 characters. */
  readonly placeholder: string;
  /** The command, without `!`, at most 70 characters: the chosen value follows it. */
  readonly line: string;
  /** 1 to 25; of a value at most 100 characters, each once. */
  readonly options: readonly {
    readonly label: string;
    readonly value: string;
    readonly description?: string;
    readonly isChosen?: boolean;
  }[];
}

/** The answer to a command, as data: the edge makes messages of it. */
export interface CommandReply {
  /** Of any length, as lines; not empty. */
  readonly text: string;
  /** At most 25. */
  readonly buttons?: readonly CommandButton[] | undefined;
  /** In place of `buttons`, only with an answer that the asker alone sees: at most 5 rows, each of 1 to 5 buttons or one choice. */
  readonly rows?: readonly (readonly CommandButton[] | CommandSelect)[];
  /** Said for all to see as well, where only the asker sees the answer: what was done concerns who reads along. */
  readonly announcement?: string;
  /** Opened in place of the answer where a button asks for it. */
  readonly form?: CommandForm;
  /** Given only with an answer that the asker alone sees: a message of each, below it. */
  readonly files?: readonly OutgoingFile[];
  /** To be called when it is known whether the person has the answer. Never rejects. */
  readonly settle?: (wasSent: boolean) => Promise<void>;
}

/** What commands, menu entries and half typed options lead to. None of them rejects. */
export interface CommandHandlers {
  command(request: CommandRequest): Promise<CommandReply>;
  menu(request: MenuRequest): Promise<CommandReply>;
  complete(request: CompletionRequest): Promise<readonly Choice[]>;
}
