import type { CommandView, OptionView } from '../control/control-views.ts';
import type { MessageView, ModalView } from '../control/message-view.ts';
import { SandboxError } from '../control/sandbox-control.ts';
import {
  findTarget,
  newestMessage,
  readTarget,
  visibleMessages,
  type ActionResult,
  type ChatAction,
  type Scene,
} from './chat-action.ts';
import { readLocalFile } from './message-actions.ts';
import { quoted, readableText } from './readable.ts';

/** What people ask of the bot other than by writing. */
export const interactionActions: Readonly<Record<string, ChatAction>> = {
  slash: {
    usage: 'COMMAND …',
    meaning: 'give the bot a slash command, as in /slash memory show; /memory show does too',
    act: giveSlashCommand,
  },
  complete: {
    usage: 'COMMAND …',
    meaning: 'what the bot offers while you type, as in /complete memory forget te',
    async act(scene, rest) {
      const { command, words } = commandOf(await scene.sandbox.commands(), rest);
      const line = readHalfTypedLine(command, words);
      const choices = await scene.sandbox.complete({ as: scene.speaker.id, in: scene.place.id, ...line });
      const lines = choices.map(({ name, value }) =>
        name === value ? `  ${name}` : `  ${name}  → ${value}`,
      );
      return { tell: lines.length === 0 ? 'The bot has nothing to offer.' : lines.join('\n') };
    },
  },
  menu: {
    usage: '"ENTRY" [^2]',
    meaning: 'choose an entry of a message’s menu, the newest message’s if not counted',
    async act(scene, rest) {
      const { count, rest: words } = readTarget(rest, 'either end');
      const entries = (await scene.sandbox.commands()).filter(({ type }) => type === 'message');
      const name = words.replace(/^["“”](.*)["“”]$/u, '$1');
      const entry = entries.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
      if (entry === undefined) {
        const names = entries.map((candidate) => `“${candidate.name}”`).join(', ');
        throw new SandboxError(
          `The menu of a message has ${names || 'no entries'}: /menu "ENTRY", or /menu "ENTRY" ^2`,
        );
      }
      const target = await newestMessage(scene, count);
      await scene.sandbox.menu({ as: scene.speaker.id, message: target.id, name: entry.name });
      const text = `chose “${entry.name}” for ${quoted(readableText(target.text, scene.names))}`;
      return { echo: { kind: 'did', text }, expectsAnswer: true };
    },
  },
  click: {
    usage: 'LABEL [^2]',
    meaning: 'click a button, or choose what a select offers; [▶] can be clicked, (◀) cannot',
    async act(scene, rest) {
      const { count, rest: words } = readTarget(rest, 'either end');
      const label = words.replace(/^\[(.*)\]$/u, '$1');
      const target = findTarget(
        await visibleMessages(scene),
        count,
        (message) =>
          label === '' ? message.components.rows.length > 0 : pressOf(message, label) !== undefined,
        label === '' ? 'There is nothing here to click' : `Nothing here is labelled ${JSON.stringify(label)}`,
      );
      if (label === '') throw new SandboxError('Click what? /click LABEL, with the label as it is shown');
      const press = pressOf(target, label) ?? { label };
      const { modal } = await scene.sandbox.click({
        as: scene.speaker.id,
        message: target.id,
        until: 'acknowledged',
        ...press,
      });
      if (modal !== undefined) return { tell: modalText(modal) };
      return { echo: { kind: 'did', text: `clicked [${label}]` }, expectsAnswer: true };
    },
  },
  submit: {
    usage: 'WORDS',
    meaning: 'send off the window that the bot has opened: its first field, or each as NAME:WORDS',
    async act(scene, rest) {
      const modal = (await scene.sandbox.modals({ as: scene.speaker.id })).at(-1);
      if (modal === undefined)
        throw new SandboxError('The bot has opened no window for you; a button may, by /click');
      const fields = modal.fields.map(({ customId }) => ({ name: customId }));
      const named = namedWords(fields, rest).map(([{ name }, words]) => [name, words] as const);
      const all =
        named.length > 0 || rest === '' ? named : fields.slice(0, 1).map(({ name }) => [name, rest] as const);
      const { interaction } = modal;
      await scene.sandbox.submit({ as: scene.speaker.id, interaction, values: Object.fromEntries(all) });
      return { echo: { kind: 'did', text: `sent “${modal.title}” off` }, expectsAnswer: true };
    },
  },
};

/** A window with what stands in its fields, and how it is sent off. */
function modalText({ title, fields }: ModalView): string {
  const [first] = fields;
  return [
    `The bot opens “${title}”:`,
    ...fields.map(({ customId, label, value }) => `  ${label} (${customId}): ${value}`),
    fields.length > 1 && first !== undefined
      ? `/submit sends it off, /submit ${first.customId}:WORDS with other words.`
      : '/submit sends it off, /submit WORDS with other words.',
  ].join('\n');
}

/** Gives a slash command as it is typed, without the slash. @throws {SandboxError} */
export async function giveSlashCommand(scene: Scene, rest: string): Promise<ActionResult> {
  const { command, words } = commandOf(await scene.sandbox.commands(), rest);
  const line = readSlashLine(command, words);
  const { options, attachments } = await withFiles(command, line);
  await scene.sandbox.slash({ as: scene.speaker.id, in: scene.place.id, ...line, options, attachments });
  return { echo: { kind: 'said', text: `/${rest.replace(/^\//, '')}` }, expectsAnswer: true };
}

/** Options that take a file are given its path; the file is handed in under its name. @throws {SandboxError} */
async function withFiles(command: CommandView, { subcommand, options }: ReturnType<typeof readSlashLine>) {
  const known = command.subcommands.find(({ name }) => name === subcommand)?.options ?? command.options;
  const takesFile = new Set(known.filter((option) => option.takesFile).map(({ name }) => name));
  const files = await Promise.all(
    Object.entries(options)
      .filter(([name]) => takesFile.has(name))
      .map(async ([option, path]) => ({ option, file: await readLocalFile(path) })),
  );
  return {
    options: { ...options, ...Object.fromEntries(files.map(({ option, file }) => [option, file.name])) },
    attachments: files.map(({ file }) => file),
  };
}

/** A command by the first word, with or without its slash. @throws {SandboxError} with what there is. */
function commandOf(
  commands: readonly CommandView[],
  rest: string,
): { readonly command: CommandView; readonly words: string } {
  const [, name = '', words = ''] = /^\/?(\S*)\s*([^]*)$/u.exec(rest) ?? [];
  const command = commands.find(
    (candidate) => candidate.type === 'slash' && candidate.name === name.toLowerCase(),
  );
  if (command !== undefined) return { command, words };
  const names = commands.filter(({ type }) => type === 'slash').map((candidate) => `/${candidate.name}`);
  const known = `The bot has the commands ${names.join(', ') || '(none)'}`;
  throw new SandboxError(name === '' ? `Which command? ${known}` : `${known}, not /${name}`);
}

/** What to hand to the control for a label: a button by it, or a select of which it is an option. */
function pressOf(
  { components }: MessageView,
  label: string,
): { readonly label: string } | { readonly customId: string; readonly values: string[] } | undefined {
  const wanted = label.toLowerCase();
  for (const { buttons, select } of components.rows) {
    for (const button of buttons) {
      const both = `${button.emoji ?? ''} ${button.label}`.trim();
      const faces = [button.label, button.emoji ?? '', both, button.customId ?? ''];
      if (!faces.some((face) => face !== '' && face.toLowerCase() === wanted)) continue;
      return { label: button.label === '' ? (button.emoji ?? '') : button.label };
    }
    const option = select?.options.find((candidate) => candidate.label.toLowerCase() === wanted);
    if (select !== undefined && option !== undefined)
      return { customId: select.customId, values: [option.value] };
  }
  return undefined;
}

/**
 * Reads what stands after a slash command's name: the subcommand, where it has some, then its options as `name:value`, or
 * everything as its first option.
 * @throws {SandboxError} for words that the command has no place for, or that an option cannot take.
 */
export function readSlashLine(command: CommandView, rest: string) {
  const { title, subcommand, options, words } = readPlace(command, rest);
  const { name } = command;
  return { name, ...subcommand, options: optionsOf(title, options, words) };
}

/**
 * Reads a slash command that is not finished: the option whose name stands last is being typed, or where no names stand the
 * first one that the bot completes.
 * @throws {SandboxError} as {@link readSlashLine}, and where there is nothing to complete.
 */
function readHalfTypedLine(command: CommandView, rest: string) {
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

/** The part of a command that a line is about, by its title such as `/memory forget`, and the words for its options. */
function readPlace(command: CommandView, rest: string) {
  const { name, options } = command;
  if (command.subcommands.length === 0) return { title: `/${name}`, subcommand: {}, options, words: rest };
  const [, first = '', more = ''] = /^(\S*)\s*([^]*)$/u.exec(rest) ?? [];
  const group = command.subcommands.some((candidate) => candidate.group === first.toLowerCase());
  const [, word = '', words = ''] = /^(\S*)\s*([^]*)$/u.exec(group ? more : rest) ?? [];
  const subcommand = command.subcommands.find((candidate) => candidate.name === word.toLowerCase());
  if (subcommand === undefined) {
    const names = command.subcommands.map((candidate) => `/${name} ${pathOf(candidate)}`).join(', ');
    throw new SandboxError(`There are ${names}`);
  }
  return {
    title: `/${name} ${pathOf(subcommand)}`,
    subcommand: { subcommand: subcommand.name },
    options: subcommand.options,
    words,
  };
}

/** A subcommand as Discord shows it, behind the name of its group. */
export function pathOf({ name, group }: Pick<CommandView['subcommands'][number], 'name' | 'group'>): string {
  return group === undefined ? name : `${group} ${name}`;
}

function optionsOf(
  title: string,
  options: readonly OptionView[],
  words: string,
): Readonly<Record<string, string>> {
  if (words === '') return {};
  const [first] = options;
  if (first === undefined) throw new SandboxError(`${title} takes nothing after it`);
  const named = namedWords(options, words);
  const given = named.length === 0 ? ([[first, words]] as const) : named;
  return Object.fromEntries(given.map(([option, text]) => [option.name, valueOf(title, option, text)]));
}

/** Words that begin with an option's name and a colon, cut before each such name; none where they begin otherwise. */
function namedWords<Named extends { readonly name: string }>(
  options: readonly Named[],
  words: string,
): readonly (readonly [Named, string])[] {
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

function valueOf(title: string, { name, choices }: OptionView, words: string): string {
  const wanted = words.toLowerCase();
  const choice = choices.find((each) =>
    [each.name, each.value].some((face) => face.toLowerCase() === wanted),
  );
  if (choice !== undefined || choices.length === 0) return choice?.value ?? words;
  const names = choices.map((each) => each.name).join(', ');
  throw new SandboxError(`${title} takes one of these as ${name}: ${names}`);
}
