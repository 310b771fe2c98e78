import type { CommandView } from '../control/control-views.ts';
import { SandboxError } from '../control/sandbox-error.ts';

/** What the control takes for a slash command, apart from who and where. */
export interface SlashLine {
  readonly name: string;
  readonly subcommand?: string;
  readonly options: Readonly<Record<string, string>>;
}

/**
 * Reads what stands after a slash command's name: the subcommand, where it has some, and the rest as its first option.
 * @throws {SandboxError} for words that the command has no place for.
 */
export function readSlashLine(command: CommandView, rest: string): SlashLine {
  const { name } = command;
  if (command.subcommands.length === 0)
    return { name, options: optionsOf(`/${name}`, command.options, rest) };
  const [, first = '', words = ''] = /^(\S*)\s*([^]*)$/u.exec(rest) ?? [];
  const subcommand = command.subcommands.find((candidate) => candidate.name === first.toLowerCase());
  if (subcommand === undefined) {
    const names = command.subcommands.map((candidate) => `/${name} ${candidate.name}`).join(', ');
    throw new SandboxError(`There are ${names}`);
  }
  return {
    name,
    subcommand: subcommand.name,
    options: optionsOf(`/${name} ${subcommand.name}`, subcommand.options, words),
  };
}

function optionsOf(
  title: string,
  options: readonly string[],
  words: string,
): Readonly<Record<string, string>> {
  if (words === '') return {};
  const [first] = options;
  if (first === undefined) throw new SandboxError(`${title} takes nothing after it`);
  return { [first]: words };
}
