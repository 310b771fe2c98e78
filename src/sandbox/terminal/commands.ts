import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';

import { ApplicationCommandOptionType, ApplicationCommandType } from 'discord-api-types/v10';

import type { People } from '../people/people.ts';
import { subcommandsOf } from '../people/slash-command.ts';
import type { ChannelView, MessageView, PersonView } from '../people/views.ts';
import { maxFileBytes, type Upload } from '../world/attachments.ts';
import type { Command as BotCommand } from '../world/entities.ts';
import { SandboxError } from '../world/world.ts';
import { bytesText, quoted, readableText, type Names } from './readable.ts';

/** Who does something, and where. */
export interface Scene {
  readonly sandbox: People;
  readonly speaker: Pick<PersonView, 'id' | 'name'>;
  readonly place: ChannelView;
  readonly botId: string;
  readonly names: Names;
}

/** What came of a command, for the chat to show and to wait for. */
export interface Outcome {
  /** For where what people type is not seen: what they said, or did. */
  readonly echo?: { readonly kind: 'said' | 'did'; readonly text: string; readonly remark?: string };
  /** Lines for the one who asked. */
  readonly tell?: string;
  /** The bot is expected to write something. */
  readonly expectsAnswer?: true;
}

/** Something that people do in Discord, as a command of the chat. */
interface Command {
  /** What follows the command's name. */
  readonly usage: string;
  readonly meaning: string;
  /** @throws {SandboxError} for what cannot be done, with what to do instead. */
  act(scene: Scene, rest: string): Promise<Outcome>;
}

/** What people can do besides writing. */
export const commands: Readonly<Record<string, Command>> = {
  reply: {
    usage: '[^2] TEXT',
    meaning: 'answer the bot’s newest message, or the one counted to',
    act: reply,
  },
  edit: { usage: '[^2] TEXT', meaning: 'change your newest message, or another of yours', act: edit },
  delete: { usage: '[^2]', meaning: 'delete your newest message, or another', act: remove },
  upload: { usage: 'FILE [TEXT]', meaning: 'send a file of this machine', act: upload },
  slash: {
    usage: 'COMMAND …',
    meaning: 'give the bot a slash command, as in /slash memory show; /memory show does too',
    act: giveSlashCommand,
  },
  menu: {
    usage: '"ENTRY" [^2]',
    meaning: 'choose an entry of a message’s menu, the newest message’s if not counted',
    act: menu,
  },
  click: {
    usage: 'LABEL [^2]',
    meaning: 'click a button, or choose what a select offers; [▶] can be clicked, (◀) cannot',
    act: click,
  },
};

async function reply(scene: Scene, rest: string): Promise<Outcome> {
  const { count, words: text } = readTarget(rest, 'beginning');
  requireWords(text, 'Reply what? /reply TEXT, or /reply ^2 TEXT');
  const missing =
    'The bot has written nothing here to reply to; /reply ^1 TEXT answers the newest message of all';
  const isByBot = ({ author }: MessageView) => author.id === scene.botId;
  const target = await sharedMessage(scene, count, isByBot, missing);
  await scene.sandbox.say({ as: scene.speaker.id, in: scene.place.id, text, replyTo: target.id });
  const remark = `in reply to ${quoted(readableText(target.text, scene.names))}`;
  return { echo: { kind: 'said', text, remark }, expectsAnswer: true };
}

async function edit(scene: Scene, rest: string): Promise<Outcome> {
  const { count, words: text } = readTarget(rest, 'beginning');
  requireWords(text, 'To what? /edit TEXT changes your newest message, /edit ^3 TEXT the third from below');
  const target = await ownMessage(scene, count);
  if (target.author.id !== scene.speaker.id)
    throw new SandboxError(`Only ${target.author.name} can edit ${quoted(target.text)}`);
  await scene.sandbox.edit({ message: target.id, text });
  return {};
}

async function remove(scene: Scene, rest: string): Promise<Outcome> {
  const { count, words } = readTarget(rest, 'beginning');
  if (words !== '') throw new SandboxError('/delete takes at most a count, as in /delete ^2');
  const target = await ownMessage(scene, count);
  requireShared(target);
  await scene.sandbox.delete({ message: target.id, as: scene.speaker.id });
  return {};
}

async function upload({ sandbox, speaker, place }: Scene, rest: string): Promise<Outcome> {
  // The path is quoted where it has spaces.
  const [, double, single, bare, text = ''] = /^(?:"([^"]+)"|'([^']+)'|(\S+))\s*([^]*)$/u.exec(rest) ?? [];
  const path = double ?? single ?? bare;
  if (path === undefined) throw new SandboxError('Which file? /upload FILE, and a text if you like');
  const file = await readLocalFile(path);
  const { attachments } = await sandbox.say({ as: speaker.id, in: place.id, text, attachments: [file] });
  const files = attachments.map(({ name, bytes }) => `[file ${name}, ${bytesText(bytes)}]`);
  const words = [text, ...files].filter((line) => line !== '').join('\n');
  return { echo: { kind: 'said', text: words }, expectsAnswer: true };
}

async function menu(scene: Scene, rest: string): Promise<Outcome> {
  const { count, words } = readTarget(rest, 'either end');
  const entries = (await scene.sandbox.commands()).filter(
    ({ type }) => type === ApplicationCommandType.Message,
  );
  const name = words.replace(/^["“”](.*)["“”]$/u, '$1');
  const entry = entries.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  if (entry === undefined) {
    const names = entries.map((candidate) => `“${candidate.name}”`).join(', ');
    throw new SandboxError(
      `The menu of a message has ${names || 'no entries'}: /menu "ENTRY", or /menu "ENTRY" ^2`,
    );
  }
  const target = await sharedMessage(scene, count, () => true, 'There are no messages here yet');
  const { modal } = await scene.sandbox.menu({
    as: scene.speaker.id,
    message: target.id,
    name: entry.name,
  });
  if (modal !== undefined) return opensWindow(modal.title);
  const text = `chose “${entry.name}” for ${quoted(readableText(target.text, scene.names))}`;
  return { echo: { kind: 'did', text }, expectsAnswer: true };
}

async function click(scene: Scene, rest: string): Promise<Outcome> {
  const { count, words } = readTarget(rest, 'either end');
  const label = words.replace(/^\[(.*)\]$/u, '$1');
  requireWords(label, 'Click what? /click LABEL, with the label as it is shown');
  const target = findTarget(
    await visibleMessages(scene),
    count,
    (message) => pressOf(message, label) !== undefined,
    `Nothing here is labelled ${JSON.stringify(label)}`,
  );
  const press = pressOf(target, label) ?? { label };
  const { modal } = await scene.sandbox.click({
    as: scene.speaker.id,
    message: target.id,
    until: 'acknowledged',
    ...press,
  });
  if (modal !== undefined) return opensWindow(modal.title);
  return { echo: { kind: 'did', text: `clicked [${label}]` }, expectsAnswer: true };
}

function opensWindow(title: string): Outcome {
  return { tell: `The bot opens the window “${title}”. There are none here: its commands do the same.` };
}

/** What to click for a label: a button by it, or a select of which it is an option. */
function pressOf(
  { components }: MessageView,
  label: string,
): { readonly label: string } | { readonly customId: string; readonly values: string[] } | undefined {
  const needle = label.toLowerCase();
  for (const { buttons, select } of components.rows) {
    const button = buttons.find(({ emoji = '', label: name }) =>
      [name, emoji, `${emoji} ${name}`.trim()].some((face) => face.toLowerCase() === needle),
    );
    if (button !== undefined) return { label: button.label || (button.emoji ?? '') };
    const option = select?.options.find((candidate) => candidate.label.toLowerCase() === needle);
    if (select !== undefined && option !== undefined)
      return { customId: select.customId, values: [option.value] };
  }
  return undefined;
}

/** Gives a slash command as it is typed. Options that take a file are given its path. @throws {SandboxError} */
export async function giveSlashCommand(scene: Scene, rest: string): Promise<Outcome> {
  const { title, options: known, call, words } = readCommand(await scene.sandbox.commands(), rest);
  const names = known.map(({ name }) => name);
  const options = readNamed(title, names, words);
  const attachments = [];
  for (const { name, type } of known) {
    const path = options[name];
    if (path === undefined || type !== ApplicationCommandOptionType.Attachment) continue;
    const file = await readLocalFile(path);
    options[name] = file.name;
    attachments.push(file);
  }
  await scene.sandbox.slash({ as: scene.speaker.id, in: scene.place.id, ...call, options, attachments });
  return { echo: { kind: 'said', text: `/${rest.replace(/^\//, '')}` }, expectsAnswer: true };
}

/**
 * Reads the command that a line begins with, with or without its slash, by its subcommand where it has some.
 * @throws {SandboxError} with what there is.
 */
export function readCommand(registered: readonly BotCommand[], line: string) {
  const [, typed = '', rest = ''] = /^\/?(\S*)\s*([^]*)$/u.exec(line) ?? [];
  const slash = registered.filter(({ type }) => type === ApplicationCommandType.ChatInput);
  const command = slash.find(({ name }) => name === typed.toLowerCase());
  if (command === undefined) {
    const known = `The bot has the commands ${slash.map(({ name }) => `/${name}`).join(', ') || '(none)'}`;
    throw new SandboxError(typed === '' ? `Which command? ${known}` : `${known}, not /${typed}`);
  }
  const { name } = command;
  const subcommands = subcommandsOf(command);
  if (subcommands.length === 0)
    return { title: `/${name}`, call: { name }, options: command.options, words: rest };
  const [found] = subcommands.flatMap(({ path, name: last, options }) => {
    // The name of its group may be left out.
    const match = new RegExp(String.raw`^(?:${path}|${last})(?!\S)\s*([^]*)$`, 'iu').exec(rest);
    return match === null ? [] : [{ path, options, words: match[1] ?? '' }];
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
  const starts = [...words.matchAll(/(?<!\S)([^\s:]+):/gu)].filter(([, name = '']) => names.includes(name));
  if (starts[0]?.index !== 0) return { [first]: words };
  // What stands behind each name, up to the next one.
  const parts = starts.map((start, place) => [
    start[1] ?? '',
    words.slice(start.index + start[0].length, starts[place + 1]?.index).trim(),
  ]);
  return Object.fromEntries(parts);
}

/** What the speaker sees of the place, oldest first. @throws {SandboxError} where they cannot see it. */
async function visibleMessages({ sandbox, speaker, place }: Scene): Promise<readonly MessageView[]> {
  const messages = await sandbox.messages({ in: place.id, as: speaker.id });
  return messages.filter(({ system }) => system === undefined);
}

/** The newest message for all that fits, or the one counted to, of anybody. @throws {SandboxError} with `missing` for none. */
async function sharedMessage(
  scene: Scene,
  count: number | undefined,
  fits: (message: MessageView) => boolean,
  missing: string,
): Promise<MessageView> {
  const isMeant = (message: MessageView) => !message.isEphemeral && fits(message);
  const target = findTarget(await visibleMessages(scene), count, isMeant, missing);
  requireShared(target);
  return target;
}

/** @throws {SandboxError} for a message that one person sees alone: nobody can do much with it in Discord. */
function requireShared({ isEphemeral, text }: MessageView): void {
  if (!isEphemeral) return;
  throw new SandboxError(
    `Only you see ${quoted(text)}: it takes no reactions and no replies, and has no menu`,
  );
}

/** Of the speaker, or the one counted to. */
async function ownMessage(scene: Scene, count: number | undefined): Promise<MessageView> {
  return findTarget(
    await visibleMessages(scene),
    count,
    ({ author }) => author.id === scene.speaker.id,
    `${scene.speaker.name} has written nothing here yet`,
  );
}

/**
 * Reads `^2` at the beginning and, where nothing that people say stands there, at the end: a message of the place, counted from the newest,
 * which is `^1`.
 */
function readTarget(line: string, where: 'beginning' | 'either end') {
  const first = /^\^(\d{1,4})(?:\s+|$)([^]*)$/u.exec(line);
  if (first !== null) return { count: Number(first[1]), words: first[2] ?? '' };
  const last = where === 'either end' ? /^([^]*?)\s*(?<!\S)\^(\d{1,4})$/u.exec(line) : null;
  return last === null ? { words: line } : { count: Number(last[2]), words: last[1] ?? '' };
}

/**
 * The message that is meant: the one counted to, else the newest that fits.
 * @throws {SandboxError} with `otherwise` where none fits, or when the count goes too far.
 */
function findTarget<Message>(
  messages: readonly Message[],
  count: number | undefined,
  fits: (message: Message) => boolean,
  otherwise: string,
): Message {
  const found = count === undefined ? messages.findLast(fits) : count === 0 ? undefined : messages.at(-count);
  if (found !== undefined) return found;
  if (count === undefined) throw new SandboxError(otherwise);
  throw new SandboxError(
    messages.length === 0
      ? 'There are no messages here yet'
      : `^${count} is not a message here; ^1 is the newest, ^${messages.length} the oldest`,
  );
}

/** @throws {SandboxError} with `question` where nothing was said. */
export function requireWords(words: string, question: string): void {
  if (words === '') throw new SandboxError(question);
}

/** @throws {SandboxError} for a file that is missing, unreadable, no file, or larger than Discord takes. */
async function readLocalFile(path: string): Promise<Upload> {
  const place = resolve(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);
  const found = await stat(place).catch(() => undefined);
  if (found?.isFile() !== true) throw new SandboxError(`There is no file ${place}`);
  if (found.size > maxFileBytes)
    throw new SandboxError(
      `${place} has ${bytesText(found.size)}, and ${bytesText(maxFileBytes)} is the limit`,
    );
  try {
    return { name: basename(place), base64: await readFile(place, 'base64') };
  } catch (error) {
    throw new SandboxError(`${place} cannot be read: ${String(error)}`, { cause: error });
  }
}
