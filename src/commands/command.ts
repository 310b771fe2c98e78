import { distance } from 'fastest-levenshtein';

import type { AttachedFile, CommandCall } from '../core/message.ts';
import type {
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
import { bareId, bareWord, nfkc, unseen, unseenStart } from '../core/text.ts';
import { quoted } from './answer-lines.ts';

export interface Command {
  readonly definition: CommandDefinition;
  answer(request: CommandRequest): Promise<CommandReply>;
  complete(request: CompletionRequest): Promise<readonly Choice[]>;
}

/** What a definition has under a key; nothing where it has none. */
type Part<Definition, Key extends string> = Definition extends { readonly [Name in Key]: infer Found }
  ? Found
  : unknown;

type ValueOf<Option> =
  | (Option extends ChoiceOption
      ? Option['choices'][number]['value']
      : Option extends { kind: 'attachment' }
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
}

/** Puts a definition and what it does together; the handler is typed by the definition. */
export function defineCommand<const Definition extends CommandDefinition>(
  definition: Definition,
  { refuse, handle, complete }: CommandBehaviour<Definition>,
): Command {
  const { ownerOnly, serverOnly, subcommands = {} }: CommandDefinition = definition;
  return {
    definition,
    async answer({ command, ...context }) {
      if (ownerOnly !== undefined && !context.speaker.isOwner) return { text: ownerOnly };
      const { isAnywhere, isForAskerOnly, isHidden } = own(subcommands, command.subcommand) ?? {};
      if (serverOnly !== undefined && context.place.guildId === undefined && isAnywhere !== true)
        return { text: serverOnly };
      if (command.misspelt !== undefined)
        return {
          text: `There is no command ${quoted(`!${command.misspelt}`)}. Did you mean \`!${command.name} ${command.subcommand}\`?`,
        };
      if (isForAskerOnly === true && !context.ephemeral && context.place.audience !== 'dm')
        return {
          text: forAskerOnly(isHidden === true ? command.name : `${command.name} ${command.subcommand}`),
        };
      const refusal = await refuse?.(context);
      if (refusal !== undefined) return { text: refusal };
      const read = readCall(definition, command, context.files);
      if (read.kind === 'help')
        return {
          text: [read.reason, helpText(definition)].filter((part) => part !== undefined).join('\n\n'),
        };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- `readCall` has just made it by this definition
      return handle(read.input as unknown as CommandInput<Definition>, context);
    },
    async complete(request) {
      const option = own(own(subcommands, request.subcommand)?.options ?? {}, request.option);
      const isOffered = option !== undefined && 'autocomplete' in option;
      return (isOffered && (await complete?.(request))) || [];
    },
  };
}

/** The answer to what nobody else may read, by the slash command that shows it to its asker alone. */
export function forAskerOnly(slashForm: string): string {
  return `That is for you alone: use \`/${slashForm}\`, or ask me in our DM.`;
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
    const suggestion = subcommandNames(subcommands).find((name) => isMisspelt(call.subcommand, name));
    const question = suggestion === undefined ? '' : ` Did you mean \`!${call.name} ${suggestion}\`?`;
    return { kind: 'help', reason: `I don't know the ${help.noun} ${quoted(call.subcommand)}.${question}` };
  }
  input['subcommand'] = call.subcommand;
  const form = writtenForm(call.name, call.subcommand, subcommand.options);
  const misused: ReadCall = { kind: 'help', reason: `Write it as \`${form}\`.` };
  for (const [name, option] of Object.entries(subcommand.options ?? {})) {
    const raw = call.options[name];
    const isLeftOut = option.kind === 'attachment' ? files.length === 0 : raw === undefined;
    if (isLeftOut && option.isOptional) continue;
    // Of several files nobody knows which is meant.
    const file = files.length === 1 ? files[0] : undefined;
    const value = option.kind === 'attachment' ? file : readOption(option, raw ?? '');
    if (value === undefined) return misused;
    input[name] = value;
  }
  return call.extra === undefined ? { kind: 'input', input } : misused;
}

/** How a command is written: `<…>` for own words, `a|b` for one of the words; what stands in brackets may be left out. */
export function writtenForm(
  name: string,
  subcommand: string,
  options: Readonly<Record<string, OptionDefinition>> = {},
): string {
  const forms = Object.entries(options).map(([label, option]) => {
    const words = option.kind === 'attachment' ? `attached ${label}` : label;
    const values = option.kind === 'choice' ? option.choices.map(({ value }) => value).join('|') : undefined;
    return option.isOptional === true ? `[${values ?? words}]` : (values ?? `<${words}>`);
  });
  return [`!${name}`, subcommand, ...forms].filter((part) => part !== '').join(' ');
}

/** All that a command can do, as it is written. */
export function helpText({ name, subcommands = {}, help }: CommandDefinition): string {
  const shown = Object.entries(subcommands).filter(([, { isHidden }]) => isHidden !== true);
  const lines = shown.map(
    ([subcommand, { description, options }]) =>
      `\`${writtenForm(name, subcommand, options).slice(`!${name} `.length)}\` ${description}`,
  );
  return [`Behind \`!${name}\`, or as \`/${name}\`:`, ...lines, '', help?.end ?? ''].join('\n').trim();
}

/** The value as handlers are given it; `undefined` where it is none. */
function readOption(option: OptionDefinition, raw: string): string | undefined {
  const value = withoutMentionMarks(raw).trim();
  const word = (option.kind === 'id' ? bareId : bareWord)(value);
  switch (option.kind) {
    case 'text':
      return value !== '' || option.mayBeEmpty ? value : undefined;
    case 'role':
    case 'who':
    case 'attachment':
      return value === '' ? undefined : value;
    case 'word':
    case 'id':
      return /^\S+$/u.test(word) ? word : undefined;
    case 'choice': {
      const lower = word.toLowerCase();
      return option.choices.find((each) => each.value === lower || each.aliases?.includes(lower))?.value;
    }
  }
}

const mentionFirst = /^<@!?(\d+)>[\s,:]*/u;
const beginning = new RegExp(
  `^([!！﹗/／])[!！﹗/／]?[\\s${unseen}]*([a-zａ-ｚ_][\\p{L}\\p{M}\\p{N}_${unseen}]*)(?:[:,;.!?：，；。、！？]+(?=\\s|$)|[:：,，]|(?=\\s|$))`,
  'iu',
);

/**
 * The command that a text is: `!memory` as its first word [K1], perhaps after a mention of the bot, however its sign
 * and spaces came out; also the slash form that Discord sent as text.
 */
export function parseCommand(
  text: string,
  definitions: readonly CommandDefinition[],
  botId?: string,
): CommandCall | undefined {
  const whole = text.replace(unseenStart, '');
  const [mention = '', mentioned] = mentionFirst.exec(whole) ?? [];
  if (mentioned !== undefined && mentioned !== botId) return undefined;
  const line = withoutQuotes(whole.slice(mention.length).replace(unseenStart, ''));
  const [head, sign = '', written = ''] = beginning.exec(line) ?? [];
  if (head === undefined) return undefined;
  const name = bareWord(written).toLowerCase();
  const words = withoutMentionMarks(line.slice(head.length)).trim();
  const definition = definitions.find((each) => each.name === name);
  if (definition === undefined) return misspeltCommand(name, words, definitions);
  const split = nfkc(sign) === '/' ? splitLabelled : splitOptions;
  if (definition.subcommands === undefined) {
    const { options } = split(definition.options ?? {}, words);
    return { name, subcommand: '', options };
  }
  const { first, word, rest } = firstAndRest(withoutGroup(words, definition));
  const subcommand = own(definition.subcommands, word);
  return {
    name,
    subcommand: subcommand === undefined && word !== 'help' ? first : word,
    ...split(subcommand?.options ?? {}, rest),
  };
}

function wordAndRest(text: string): readonly string[] {
  return /^(\S*)\s*([\s\S]*)$/u.exec(text) ?? [];
}

/** What is written first, the subcommand that it may be, and what follows. */
function firstAndRest(text: string) {
  const [taken = '', first = ''] = /^(\S*?)(?:[:,;：，；](?=[\s\p{L}\p{N}])|(?=\s|$))/u.exec(text) ?? [];
  return { first, word: bareWord(first).toLowerCase(), rest: text.slice(taken.length).trimStart() };
}

/** What stands in signs of code, stress or quotation from end to end, as hints are copied. */
function withoutQuotes(text: string): string {
  const [opening = '', sign = ''] = /^([`*_"'|])\1*/u.exec(text) ?? [];
  const end = sign === '' ? -1 : text.indexOf(sign, opening.length);
  if (end >= 0 && bareWord(text.slice(end).replaceAll(sign, '')).trim() !== '') return text;
  return text.slice(opening.length, end < 0 ? undefined : end).replace(unseenStart, '');
}

/** What is written behind a command, without the group that its slash form stands in. */
function withoutGroup(line: string, { groups = {}, subcommands = {} }: CommandDefinition): string {
  const { word, rest } = firstAndRest(line);
  const isGroup = own(groups, word) !== undefined;
  return isGroup && own(subcommands, firstAndRest(rest).word)?.group === word ? rest : line;
}

/** A command whose name is misspelt, and whose subcommand is none that could be meant otherwise [K1]. */
function misspeltCommand(
  misspelt: string,
  line: string,
  definitions: readonly CommandDefinition[],
): CommandCall | undefined {
  const { word } = firstAndRest(line);
  const suggestion = definitions.find(
    ({ name, subcommands = {} }) => isMisspelt(misspelt, name) && subcommandNames(subcommands).includes(word),
  );
  return suggestion && { name: suggestion.name, subcommand: word, options: {}, misspelt };
}

function subcommandNames(subcommands: Readonly<Record<string, SubcommandDefinition>>): readonly string[] {
  const shown = Object.entries(subcommands).filter(([, { isHidden }]) => isHidden !== true);
  return [...shown.map(([name]) => name), 'help'];
}

/** Whether a word has one wrong, missing, extra or swapped letter; a longer word does not count [K1]. */
function isMisspelt(written: string, word: string): boolean {
  const lower = written.toLowerCase();
  if (lower.startsWith(word)) return false;
  const steps = distance(lower, word);
  return steps === 1 || (steps === 2 && sorted(lower) === sorted(word));
}

/** The same of words whose letters are swapped. */
function sorted(word: string): string {
  return Array.from(word).toSorted().join('');
}

/** What follows a slash command that Discord sent as text, in any order: `id: 1a2b3c4d text: I like tea`. */
function splitLabelled(
  options: NonNullable<SubcommandDefinition['options']>,
  line: string,
): Pick<CommandCall, 'options' | 'extra'> {
  const labels = new Map<string, { readonly start: number; readonly end: number }>();
  for (const { 0: label, index } of line.matchAll(/(?<=^|\s)[a-z]{1,32}:/gu)) {
    const name = label.slice(0, -1);
    if (Object.hasOwn(options, name) && !labels.has(name))
      labels.set(name, { start: index, end: index + label.length });
  }
  const found = [...labels];
  if (found[0]?.[1].start !== 0) return splitOptions(options, line);
  const values = found.map(([name, { end }], at) => [name, line.slice(end, found[at + 1]?.[1].start).trim()]);
  return { options: Object.fromEntries(values) };
}

/** As answers show an id. */
const idLabel = /^[<[({`"'“*]*id\b[\s:#]+/iu;

/** Gives what follows a subcommand to its options. Where it has none, more words mean nothing. */
function splitOptions(
  options: NonNullable<SubcommandDefinition['options']>,
  written: string,
): Pick<CommandCall, 'options' | 'extra'> {
  const entries = Object.entries(options)
    .map(([name, option]) => ({ name, option }))
    .filter(({ option }) => option.kind !== 'attachment' && option.isSlashOnly !== true);
  if (entries.length === 0) return { options: {} };
  const values: Record<string, string> = {};
  const rest = entries[0]?.option.kind === 'id' ? written.replace(idLabel, '') : written;
  const text = entries.find(({ option: { kind } }) => kind === 'text' || kind === 'role' || kind === 'who');
  if (text !== undefined) {
    let left = rest;
    for (const { name } of entries.filter((entry) => entry !== text)) {
      const [, word = '', more = ''] = wordAndRest(left);
      if (word !== '') values[name] = word;
      left = more;
    }
    const isLeftOut = left === '' && text.option.isOptional;
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
