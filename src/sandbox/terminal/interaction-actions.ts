import type { CommandView } from '../control/control-views.ts';
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
      const line = readHalfTyped(await scene.sandbox.commands(), rest);
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
      const { interaction, title, fields } = modal;
      const names = fields.map(({ customId }) => customId);
      const values = readNamed(title, names, rest);
      await scene.sandbox.submit({ as: scene.speaker.id, interaction, values });
      return { echo: { kind: 'did', text: `sent “${title}” off` }, expectsAnswer: true };
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

/** Gives a slash command as it is typed. Options that take a file are given its path. @throws {SandboxError} */
export async function giveSlashCommand(scene: Scene, rest: string): Promise<ActionResult> {
  const { title, options: known, call, words } = readCommand(await scene.sandbox.commands(), rest);
  const options = readNamed(
    title,
    known.map(({ name }) => name),
    words,
  );
  const attachments = [];
  for (const { name } of known.filter(({ takesFile }) => takesFile)) {
    const path = options[name];
    if (path === undefined) continue;
    const file = await readLocalFile(path);
    options[name] = file.name;
    attachments.push(file);
  }
  await scene.sandbox.slash({ as: scene.speaker.id, in: scene.place.id, ...call, options, attachments });
  return { echo: { kind: 'said', text: `/${rest.replace(/^\//, '')}` }, expectsAnswer: true };
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
 * Reads the command that a line begins with, with or without its slash, by its subcommand where it has some.
 * @throws {SandboxError} with what there is.
 */
export function readCommand(commands: readonly CommandView[], line: string) {
  const [, typed = '', rest = ''] = /^\/?(\S*)\s*([^]*)$/u.exec(line) ?? [];
  const slash = commands.filter(({ type }) => type === 'slash');
  const command = slash.find(({ name }) => name === typed.toLowerCase());
  if (command === undefined) {
    const known = `The bot has the commands ${slash.map(({ name }) => `/${name}`).join(', ') || '(none)'}`;
    throw new SandboxError(typed === '' ? `Which command? ${known}` : `${known}, not /${typed}`);
  }
  const { name, subcommands } = command;
  if (subcommands.length === 0)
    return { title: `/${name}`, call: { name }, options: command.options, words: rest };
  const [found] = subcommands.flatMap(({ path, name: last, options }) => {
    // The name of its group may be left out.
    const begun = new RegExp(String.raw`^(?:${path}|${last})(?!\S)\s*([^]*)$`, 'iu').exec(rest);
    return begun === null ? [] : [{ path, options, words: begun[1] ?? '' }];
  });
  if (found === undefined)
    throw new SandboxError(`There are ${subcommands.map(({ path }) => `/${name} ${path}`).join(', ')}`);
  const { path, options, words } = found;
  return { title: `/${name} ${path}`, call: { name, subcommand: path }, options, words };
}

/** Words for several names as `name:words`, or all for the first one. @throws {SandboxError} where there is none. */
export function readNamed(title: string, names: readonly string[], words: string): Record<string, string> {
  const [first] = names;
  if (words === '') return {};
  if (first === undefined) throw new SandboxError(`${title} takes nothing after it`);
  const named = namedWords(names, words);
  return named.length === 0 ? { [first]: words } : Object.fromEntries(named);
}

/** What stands behind each `name:`, up to the next one; nothing where the words begin otherwise. */
function namedWords(names: readonly string[], words: string): readonly (readonly [string, string])[] {
  const starts = [...words.matchAll(/(?<!\S)([^\s:]+):/gu)].filter(([, name = '']) => names.includes(name));
  if (starts[0]?.index !== 0) return [];
  return starts.map((start, place) => [
    start[1] ?? '',
    words.slice(start.index + start[0].length, starts[place + 1]?.index).trim(),
  ]);
}

/**
 * Reads a slash command that is not finished: the option whose name stands last is being typed, or where no names stand the
 * first one that the bot completes.
 * @throws {SandboxError} also where there is nothing to complete.
 */
function readHalfTyped(commands: readonly CommandView[], line: string) {
  const { title, call, options, words } = readCommand(commands, line);
  const named = namedWords(
    options.map(({ name }) => name),
    words,
  );
  const [option, value] = named.at(-1) ?? [options.find(({ autocomplete }) => autocomplete)?.name, words];
  if (option === undefined) throw new SandboxError(`The bot completes nothing after ${title}`);
  return { ...call, options: Object.fromEntries(named.slice(0, -1)), option, value };
}
