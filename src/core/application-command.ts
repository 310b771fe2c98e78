import type { ChatMessage, CommandName, CommandRequest } from './chat.ts';

/** Discord's application command JSON. */
export interface CommandDefinition {
  readonly name: string;
  readonly [key: string]: unknown;
}

/** `/name …`, the slash form of the command `!name …`. */
export interface SlashCommand {
  readonly name: CommandName;
  readonly definition: CommandDefinition;
  /**
   * The words that would stand after `!name`. `subcommand` is empty where there is none; `options` are those given, by name, as text.
   */
  readonly words: (subcommand: string, options: Readonly<Record<string, string>>) => string;
}

/** What can be chosen in the menu of a message: remember it, or tell what is known about it. */
export type MenuName = 'remember' | 'about';

/** An entry in the menu of every message. */
export interface MenuEntry {
  readonly name: MenuName;
  readonly definition: CommandDefinition;
}

/** Somebody chose an entry in a message's menu; only they see the answer. */
export interface MenuRequest extends Pick<CommandRequest, 'id' | 'speaker' | 'place' | 'at'> {
  readonly name: MenuName;
  readonly message: ChatMessage;
}

/** Somebody is typing the value of an option. */
export interface CompletionRequest extends Pick<CommandRequest, 'speaker' | 'place'> {
  readonly name: CommandName;
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

/** What Discord shows while somebody types. */
export const mostChoices = 25;
export const choiceMaxChars = 100;

/** What interactions besides commands lead to; both never reject. */
export interface InteractionHandlers {
  complete(request: CompletionRequest): Promise<readonly Choice[]>;
  /** Resolves with the answer's text. */
  menu(request: MenuRequest): Promise<string>;
}
