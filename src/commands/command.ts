import { distance } from 'fastest-levenshtein';

import type { AttachedFile, CommandCall } from '../core/chat.ts';
import type {
  AttachmentOption,
  Choice,
  ChoiceOption,
  CommandContext,
  CommandDefinition,
  CommandReply,
  CommandRequest,
  CompletionRequest,
  OptionDefinition,
  SubcommandDefinition,
} from '../core/commands.ts';
import { withoutMentionMarks } from '../core/own-words.ts';
import { quoted } from './answer-lines.ts';

/** What answers a command or a menu entry. */
export interface RequestHandler<Request> {
  answer(request: Request): Promise<CommandReply>;
  /** What people are told where `answer` has rejected. */
  explain(error: unknown): string;
}

export interface Command extends RequestHandler<CommandRequest> {
  readonly definition: CommandDefinition;
  complete(request: CompletionRequest): Promise<readonly Choice[]>;
}

/** What a definition has under a key; nothing where it has none. */
type Part<Definition, Key extends string> = Definition extends { readonly [Name in Key]: infer Found }
  ? Found
  : unknown;

type ValueOf<Option> =
  | (Option extends ChoiceOption
      ? Option['choices'][number]['value']
      : Option extends AttachmentOption
        ? AttachedFile
        : string)
  | (Option extends { isOptional: true } ? undefined : never);

type Values<Options> = { readonly [Name in keyof Options]: ValueOf<Options[Name]> };

/** What a handler is given: the subcommand, where there are some, and options by name, as the definition has them. */
export type CommandInput<Definition, Subcommands = Part<Definition, 'subcommands'>> = Definition extends {
  readonly options: infer Options;
}
  ? Values<Options>
  : {
      [Name in keyof Subcommands]: { readonly subcommand: Name } & Values<Part<Subcommands[Name], 'options'>>;
    }[keyof Subcommands];

/** What a command does; each of the functions may reject. */
interface CommandBehaviour<Definition> {
  /** What somebody is told who may not give it there; `undefined` for who may. */
  readonly refuse?: (context: CommandContext) => Promise<string | undefined>;
  /** Given only what is for this person and place, and was understood. */
  readonly handle: (input: CommandInput<Definition>, context: CommandContext) => Promise<CommandReply>;
  /** Given only options whose values are offered while somebody types. */
  readonly complete?: Command['complete'];
  readonly explain: (error: unknown) => string;
}

/** Puts a definition and what it does together; the handler is typed by the definition. */
export function defineCommand<const Definition extends CommandDefinition>(
  definition: Definition,
  { refuse, handle, complete, explain }: CommandBehaviour<Definition>,
): Command {
  const { ownerOnly, serverOnly, help, subcommands = {} }: CommandDefinition = definition;
  return {
    definition,
    async answer({ command, ...context }) {
      if (ownerOnly !== undefined && !context.speaker.isOwner) return { text: ownerOnly };
      const isAnywhere = own(subcommands, command.subcommand)?.isAnywhere === true;
      if (serverOnly !== undefined && context.place.guildId === undefined && !isAnywhere)
        return { text: serverOnly };
      if (command.misspelt !== undefined) return { text: didYouMean(command.misspelt, command) };
      const refusal = await refuse?.(context);
      if (refusal !== undefined) return { text: refusal };
      const read = readCall(definition, command, context.files);
      if (read.kind === 'help')
        return { text: [read.reason, help?.text].filter((part) => part !== undefined).join('\n\n') };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `readCall` has just made it by this definition
      return handle(read.input as unknown as CommandInput<Definition>, context);
    },
    async complete(request) {
      const option = own(own(subcommands, request.subcommand)?.options ?? {}, request.option);
      const isOffered = option !== undefined && 'autocomplete' in option;
      return (isOffered && (await complete?.(request))) || [];
    },
    explain,
  };
}

type ReadCall =
  | { readonly kind: 'input'; readonly input: Readonly<Record<string, string | AttachedFile>> }
  | { readonly kind: 'help'; readonly reason?: string | undefined };

/** What was given to a command as its definition wants it; help with a reason where it is not so [K1]. */
function readCall(
  { subcommands = {}, options = {}, help }: CommandDefinition,
  call: CommandCall,
  files: readonly AttachedFile[] = [],
): ReadCall {
  const input: Record<string, string | AttachedFile> = {};
  if (help === undefined) {
    for (const [name, option] of Object.entries(options)) {
      const value = readOption(option, call.options[name] ?? '');
      if (value !== undefined) input[name] = value;
    }
    return { kind: 'input', input };
  }
  if (call.subcommand === '' || call.subcommand === 'help') return { kind: 'help' };
  const subcommand = own(subcommands, call.subcommand);
  if (subcommand === undefined) {
    const unknown = `I don't know the ${help.noun} ${quoted(call.subcommand)}.`;
    const meant = subcommandNames(subcommands).find((name) => isMisspelt(call.subcommand, name));
    const question = meant === undefined ? '' : ` Did you mean \`!${call.name} ${meant}\`?`;
    return { kind: 'help', reason: `${unknown}${question}` };
  }
  input['subcommand'] = call.subcommand;
  const misused: ReadCall = { kind: 'help', reason: subcommand.misuse };
  for (const [name, option] of Object.entries(subcommand.options ?? {})) {
    const given = call.options[name];
    const isLeftOut = option.kind === 'attachment' ? files.length === 0 : given === undefined;
    if (isLeftOut && 'isOptional' in option) continue;
    const value = option.kind === 'attachment' ? onlyOne(files) : readOption(option, given ?? '');
    if (value === undefined) return misused;
    input[name] = value;
  }
  return call.extra === undefined ? { kind: 'input', input } : misused;
}

/** The file that is meant; `undefined` where there is none, or several. */
function onlyOne(files: readonly AttachedFile[]): AttachedFile | undefined {
  return files.length === 1 ? files[0] : undefined;
}

/** The value as handlers are given it; `undefined` where it is none. */
function readOption(option: Exclude<OptionDefinition, AttachmentOption>, given: string): string | undefined {
  const value = withoutMentionMarks(given).trim();
  switch (option.kind) {
    case 'text':
      return value !== '' || option.mayBeEmpty ? value : undefined;
    case 'role':
    case 'who':
      return value === '' ? undefined : value;
    case 'word':
      return /^\S+$/u.test(value) ? value : undefined;
    case 'choice':
      return chosen(option, value);
  }
}

function chosen({ choices }: ChoiceOption, word: string): string | undefined {
  const wanted = word.toLowerCase();
  return choices.find(({ value, aliases = [] }) => value === wanted || aliases.includes(wanted))?.value;
}

const form = /^(?:<@!?(?<mentioned>\d+)>[\s,:]*)?!(?<name>\w+)(?<words>\s[\s\S]*)?$/u;

/** The command that a text is: `!memory` as its first word [K1], perhaps after a mention of the bot. */
export function parseCommand(
  text: string,
  definitions: readonly CommandDefinition[],
  botId?: string,
): CommandCall | undefined {
  const { groups } = form.exec(text.trim()) ?? {};
  if (groups === undefined) return undefined;
  const { mentioned, name = '', words = '' } = groups;
  if (mentioned !== undefined && mentioned !== botId) return undefined;
  const definition = definitions.find((each) => each.name === name.toLowerCase());
  if (definition === undefined) return misspeltCommand(name, words, definitions);
  const said = withoutMentionMarks(words).trim();
  if (definition.subcommands === undefined) {
    const { options } = splitOptions(definition.options ?? {}, said);
    return { name: definition.name, subcommand: '', options };
  }
  const [, first = '', rest = ''] = wordAndRest(withoutGroup(said, definition));
  const lower = first.toLowerCase();
  const subcommand = own(definition.subcommands, lower);
  return {
    name: definition.name,
    subcommand: subcommand === undefined && lower !== 'help' ? first : lower,
    ...splitOptions(subcommand?.options ?? {}, rest),
  };
}

function wordAndRest(text: string): readonly string[] {
  return /^(\S*)\s*([\s\S]*)$/u.exec(text) ?? [];
}

/** What is written behind a command, without the group that its slash form stands in. */
function withoutGroup(said: string, { groups = {}, subcommands = {} }: CommandDefinition): string {
  const [, first = '', rest = ''] = wordAndRest(said);
  const [, second = ''] = wordAndRest(rest);
  const isGroup = own(groups, first.toLowerCase()) !== undefined;
  return isGroup && own(subcommands, second.toLowerCase())?.group === first.toLowerCase() ? rest : said;
}

/** A command whose name is misspelt, and whose subcommand is none that could be meant otherwise [K1]. */
function misspeltCommand(
  misspelt: string,
  words: string,
  definitions: readonly CommandDefinition[],
): CommandCall | undefined {
  const [, first = ''] = wordAndRest(words.trim().toLowerCase());
  const meant = definitions.find(
    ({ name, subcommands = {} }) =>
      isMisspelt(misspelt, name) && subcommandNames(subcommands).includes(first),
  );
  return meant && { name: meant.name, subcommand: first, options: {}, misspelt };
}

function didYouMean(misspelt: string, { name, subcommand }: CommandCall): string {
  return `There is no command ${quoted(`!${misspelt}`)}. Did you mean \`!${name} ${subcommand}\`?`;
}

function subcommandNames(subcommands: Readonly<Record<string, SubcommandDefinition>>): readonly string[] {
  const shown = Object.entries(subcommands).filter(([, { isHidden }]) => isHidden !== true);
  return [...shown.map(([name]) => name), 'help'];
}

/** Whether a word has one wrong, missing, extra or swapped letter; a longer word does not count [K1]. */
function isMisspelt(written: string, word: string): boolean {
  const lower = written.toLowerCase();
  if (lower.startsWith(word)) return false;
  return distance(lower, word) === 1 || hasSwappedLetters(lower, word);
}

function hasSwappedLetters(written: string, word: string): boolean {
  const at = Array.from(word).findIndex((letter, index) => letter !== written[index]);
  const [first = '', second = ''] = word.slice(at);
  return at >= 0 && written === `${word.slice(0, at)}${second}${first}${word.slice(at + 2)}`;
}

/** Gives what follows a subcommand to its options. Where it has none, more words mean nothing. */
function splitOptions(
  options: NonNullable<SubcommandDefinition['options']>,
  rest: string,
): Pick<CommandCall, 'options' | 'extra'> {
  const entries = Object.entries(options).flatMap(([name, option]) =>
    option.kind === 'attachment' ? [] : [{ name, option }],
  );
  if (entries.length === 0) return { options: {} };
  const values: Record<string, string> = {};
  const text = entries.find(({ option: { kind } }) => kind === 'text' || kind === 'role' || kind === 'who');
  if (text !== undefined) {
    let left = rest;
    for (const { name } of entries.filter((entry) => entry !== text)) {
      const [, word = '', more = ''] = wordAndRest(left);
      if (word !== '') values[name] = word;
      left = more;
    }
    const isLeftOut = left === '' && 'isOptional' in text.option;
    return { options: isLeftOut ? values : { ...values, [text.name]: left } };
  }
  const extra: string[] = [];
  for (const word of rest.split(/\s+/u).filter((each) => each !== '')) {
    const read = entries.map(({ name, option }) => ({ name, value: readOption(option, word) }));
    const taken = read.find(({ name, value }) => value !== undefined && values[name] === undefined);
    if (taken?.value === undefined) extra.push(word);
    else values[taken.name] = taken.value;
  }
  return { options: values, extra: extra.length > 0 ? extra.join(' ') : undefined };
}

/** A record's own value; what people write may be the name of something that every object has. */
function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
