import type { CommandView, OptionView } from '../control/command-view.ts';
import { SandboxError } from '../control/sandbox-error.ts';

type Value = string | number | boolean;

/** What the control takes for a slash command, apart from who and where. */
export interface SlashLine {
  readonly name: string;
  readonly subcommand?: string;
  readonly options: Readonly<Record<string, Value>>;
}

/** What the control takes while an option is being typed. */
export interface HalfTypedLine extends SlashLine {
  readonly option: string;
  readonly value: string;
}

/**
 * Reads what stands after a slash command's name: the subcommand, where it has some, then its options as `name:value`, or
 * everything as its first option.
 * @throws {SandboxError} for words that the command has no place for, or that an option cannot take.
 */
export function readSlashLine(command: CommandView, rest: string): SlashLine {
  const { title, subcommand, options, words } = readPlace(command, rest);
  const { name } = command;
  return { name, ...subcommand, options: optionsOf(title, options, words) };
}

/**
 * Reads a slash command that is not finished: the option whose name stands last is being typed, or where no names stand the
 * first one that the bot completes.
 * @throws {SandboxError} as {@link readSlashLine}, and where there is nothing to complete.
 */
export function readHalfTypedLine(command: CommandView, rest: string): HalfTypedLine {
  const { title, subcommand, options, words } = readPlace(command, rest);
  const { name } = command;
  const named = namedWords(options, words);
  const [option, value] = named.at(-1) ?? [options.find(({ autocomplete }) => autocomplete), words];
  if (option === undefined) throw new SandboxError(`The bot completes nothing after ${title}`);
  const others = named
    .slice(0, -1)
    .map(([other, text]) => [other.name, valueOf(title, other, text)] as const);
  return { name, ...subcommand, options: Object.fromEntries(others), option: option.name, value };
}

interface LinePlace {
  /** `/memory forget` */
  readonly title: string;
  readonly subcommand: { readonly subcommand?: string };
  readonly options: readonly OptionView[];
  readonly words: string;
}

function readPlace(command: CommandView, rest: string): LinePlace {
  const { name, options } = command;
  if (command.subcommands.length === 0) return { title: `/${name}`, subcommand: {}, options, words: rest };
  const [, first = '', words = ''] = /^(\S*)\s*([^]*)$/u.exec(rest) ?? [];
  const subcommand = command.subcommands.find((candidate) => candidate.name === first.toLowerCase());
  if (subcommand === undefined) {
    const names = command.subcommands.map((candidate) => `/${name} ${candidate.name}`).join(', ');
    throw new SandboxError(`There are ${names}`);
  }
  return {
    title: `/${name} ${subcommand.name}`,
    subcommand: { subcommand: subcommand.name },
    options: subcommand.options,
    words,
  };
}

function optionsOf(
  title: string,
  options: readonly OptionView[],
  words: string,
): Readonly<Record<string, Value>> {
  if (words === '') return {};
  const [first] = options;
  if (first === undefined) throw new SandboxError(`${title} takes nothing after it`);
  const named = namedWords(options, words);
  if (named.length === 0) return { [first.name]: valueOf(title, first, words) };
  return Object.fromEntries(
    named.map(([option, text]) => [option.name, valueOf(title, option, text)] as const),
  );
}

/** Words that begin with an option's name and a colon, cut before each such name; none where they begin otherwise. */
function namedWords(
  options: readonly OptionView[],
  words: string,
): readonly (readonly [OptionView, string])[] {
  const byName = new Map(options.map((option) => [option.name, option]));
  const starts = [...words.matchAll(/(?<!\S)([^\s:]+):/gu)].flatMap((match) => {
    const option = byName.get(match[1] ?? '');
    return option === undefined ? [] : [{ option, index: match.index, length: match[0].length }];
  });
  if (starts[0]?.index !== 0) return [];
  return starts.map(({ option, index, length }, place) => [
    option,
    words.slice(index + length, starts[place + 1]?.index).trim(),
  ]);
}

function valueOf(title: string, option: OptionView, words: string): Value {
  const wanted = words.toLowerCase();
  const choice = option.choices.find(
    ({ name, value }) => name.toLowerCase() === wanted || String(value).toLowerCase() === wanted,
  );
  if (choice !== undefined) return choice.value;
  if (option.choices.length > 0) {
    const names = option.choices.map(({ name }) => name).join(', ');
    throw new SandboxError(`${title} takes one of these as ${option.name}: ${names}`);
  }
  switch (option.type) {
    case 'integer':
    case 'number':
      if (words.trim() === '' || !Number.isFinite(Number(words)))
        throw new SandboxError(`${title} takes a number as ${option.name}`);
      return Number(words);
    case 'boolean':
      if (['true', 'yes', 'on'].includes(wanted)) return true;
      if (['false', 'no', 'off'].includes(wanted)) return false;
      throw new SandboxError(`${title} takes yes or no as ${option.name}`);
    case 'string':
    case 'user':
    case 'channel':
    case 'other':
      return words;
  }
}
