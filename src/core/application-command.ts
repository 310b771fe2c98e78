import type { CommandName } from './chat.ts';

/** `/name …`, the slash form of the command `!name …`. */
export interface SlashCommand {
  readonly name: CommandName;
  /** Discord's application command JSON. */
  readonly definition: { readonly name: string; readonly [key: string]: unknown };
  /**
   * The words that would stand after `!name`. `subcommand` is empty where there is none; `options` are those given, by name, as text.
   */
  readonly words: (subcommand: string, options: Readonly<Record<string, string>>) => string;
}
