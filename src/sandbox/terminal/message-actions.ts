import { readFile, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';

import type { MessageView } from '../control/message-view.ts';
import { SandboxError } from '../control/sandbox-control.ts';
import { maxFileBytes } from '../world/attachments.ts';
import {
  botsMessage,
  findTarget,
  newestMessage,
  readOnlyTarget,
  readTarget,
  requireShared,
  requireWords,
  visibleMessages,
  type ChatAction,
  type Scene,
} from './chat-action.ts';
import { bytesText, contentOf, quoted, readableText } from './readable.ts';

/** So many messages are listed. */
const listed = 15;

/** What people write, change, take back and put on messages, and the messages and threads of a place. */
export const messageActions: Readonly<Record<string, ChatAction>> = {
  reply: {
    usage: '[^2] TEXT',
    meaning: 'answer the bot’s newest message, or the one counted to',
    async act(scene, rest) {
      const { count, rest: text } = readTarget(rest, 'beginning');
      requireWords(text, 'Reply what? /reply TEXT, or /reply ^2 TEXT');
      const missing =
        'The bot has written nothing here to reply to; /reply ^1 TEXT answers the newest message of all';
      const target = await botsMessage(scene, count, missing);
      await scene.sandbox.say({ as: scene.speaker.id, in: scene.place.id, text, replyTo: target.id });
      const remark = `in reply to ${quoted(readableText(target.text, scene.names))}`;
      return { echo: { kind: 'said', text, remark }, expectsAnswer: true };
    },
  },
  upload: {
    usage: 'FILE [TEXT]',
    meaning: 'send a file of this machine',
    async act({ sandbox, speaker, place }, rest) {
      const { path, text } = readUploadLine(rest);
      const file = await readLocalFile(path);
      const { attachments } = await sandbox.say({
        as: speaker.id,
        in: place.id,
        text,
        attachments: [file],
      });
      const files = attachments.map(({ name, bytes }) => `[file ${name}, ${bytesText(bytes)}]`);
      const words = [text, ...files].filter((line) => line !== '').join('\n');
      return { echo: { kind: 'said', text: words }, expectsAnswer: true };
    },
  },
  save: {
    usage: 'FOLDER [^2]',
    meaning:
      'keep the files of a message in a folder of this machine, the newest that has some if not counted',
    async act(scene, rest) {
      const { count, rest: folder } = readTarget(rest, 'either end');
      requireWords(folder, 'Where to? /save FOLDER');
      const target = findTarget(
        await visibleMessages(scene),
        count,
        ({ attachments }) => attachments.length > 0,
        'No message here has a file',
      );
      const paths: string[] = [];
      for (const { name } of target.attachments) {
        const file = await scene.sandbox.file({ as: scene.speaker.id, message: target.id, name });
        paths.push(await saveLocalFile(folder, file));
      }
      return { tell: paths.map((path) => `Saved ${path}`).join('\n') };
    },
  },
  edit: {
    usage: '[^2] TEXT',
    meaning: 'change your newest message, or another of yours',
    async act(scene, rest) {
      const { count, rest: text } = readTarget(rest, 'beginning');
      requireWords(
        text,
        'To what? /edit TEXT changes your newest message, /edit ^3 TEXT the third from below',
      );
      const target = await ownMessage(scene, count);
      if (target.author.id !== scene.speaker.id) {
        throw new SandboxError(`Only ${target.author.name} can edit ${quoted(target.text)}`);
      }
      await scene.sandbox.edit({ message: target.id, text });
      return {};
    },
  },
  delete: {
    usage: '[^2]',
    meaning: 'delete your newest message, or another',
    async act(scene, rest) {
      const { count } = readOnlyTarget(rest, '/delete takes at most a count, as in /delete ^2');
      const target = await ownMessage(scene, count);
      requireShared(target);
      await scene.sandbox.delete({ message: target.id, as: scene.speaker.id });
      return {};
    },
  },
  react: {
    usage: 'EMOJI [^2]',
    meaning: 'react to the bot’s newest message, or take the reaction back (🛑 stops an answer)',
    async act(scene, rest) {
      const { count, rest: emoji } = readTarget(rest, 'either end');
      requireWords(emoji, 'With what? /react 👍, or /react 👍 ^2');
      const missing =
        'The bot has written nothing here to react to; /react 👍 ^1 means the newest message of all';
      const target = await botsMessage(scene, count, missing);
      const present = target.reactions[emoji]?.includes(scene.speaker.name) !== true;
      await scene.sandbox.react({ as: scene.speaker.id, message: target.id, emoji, present });
      return {};
    },
  },
  pin: {
    usage: '[^2]',
    meaning: 'pin the newest message, or unpin it',
    async act(scene, rest) {
      const { count } = readOnlyTarget(rest, '/pin takes at most a count, as in /pin ^2');
      const target = await newestMessage(scene, count);
      await scene.sandbox.pin({ as: scene.speaker.id, message: target.id, pinned: !target.isPinned });
      return {};
    },
  },
  thread: {
    usage: 'NAME [^2]',
    meaning: 'open a thread here, on a message where one is counted to, and go there',
    async act(scene, rest) {
      const { count, rest: name } = readTarget(rest, 'either end');
      requireWords(name, 'Called what? /thread NAME');
      const message = count === undefined ? undefined : await newestMessage(scene, count);
      const thread = await scene.sandbox.addThread({
        channel: scene.place.id,
        name,
        as: scene.speaker.id,
        message: message?.id,
      });
      return { goTo: thread.id };
    },
  },
  messages: {
    usage: '',
    meaning: 'the newest messages here, with their counts',
    async act(scene) {
      const messages = await visibleMessages(scene);
      const lines = messages.slice(-listed).map((message, index, shown) => {
        const { author, reactions, isEphemeral, isPinned } = message;
        const marks = [
          ...Object.entries(reactions).map(([emoji, names]) => `${emoji} ${names.join(', ')}`),
          isPinned ? 'pinned' : '',
          isEphemeral ? 'only you see this' : '',
        ].filter((mark) => mark !== '');
        const count = `^${shown.length - index}`.padStart(4);
        const words = contentOf(message, scene.names);
        return `${count}  ${author.name}: ${words}${marks.length === 0 ? '' : ` (${marks.join('; ')})`}`;
      });
      return { tell: lines.length === 0 ? 'Nothing was written here yet.' : lines.join('\n') };
    },
  },
};

/** Of the speaker, or the one counted to. */
async function ownMessage(scene: Scene, count: number | undefined): Promise<MessageView> {
  return findTarget(
    await visibleMessages(scene),
    count,
    ({ author }) => author.id === scene.speaker.id,
    `${scene.speaker.name} has written nothing here yet`,
  );
}

/** The path, quoted where it has spaces, and the words after it. */
export function readUploadLine(rest: string): { readonly path: string; readonly text: string } {
  const [, double, single, bare, text = ''] = /^(?:"([^"]+)"|'([^']+)'|(\S+))\s*([^]*)$/u.exec(rest) ?? [];
  const path = double ?? single ?? bare;
  if (path === undefined) throw new SandboxError('Which file? /upload FILE, and a text if you like');
  return { path, text };
}

/** Resolves with the path; nothing that is there already is replaced. @throws {SandboxError} */
async function saveLocalFile(
  folder: string,
  { name, base64 }: { readonly name: string; readonly base64: string },
): Promise<string> {
  const path = join(localPath(folder), basename(name));
  try {
    await writeFile(path, Buffer.from(base64, 'base64'), { flag: 'wx' });
    return path;
  } catch (error) {
    throw new SandboxError(`${path} cannot be written: ${reasonOf(error)}`, { cause: error });
  }
}

function localPath(path: string): string {
  return resolve(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);
}

/** @throws {SandboxError} for a file that is missing, unreadable, no file, or larger than Discord takes. */
export async function readLocalFile(
  path: string,
): Promise<{ readonly name: string; readonly base64: string }> {
  const place = localPath(path);
  try {
    const found = await stat(place);
    if (!found.isFile()) throw new SandboxError(`${place} is not a file`);
    if (found.size > maxFileBytes) {
      const most = bytesText(maxFileBytes);
      throw new SandboxError(`${place} is too large: it has ${found.size} bytes, and ${most} is the limit`);
    }
    return { name: basename(place), base64: await readFile(place, 'base64') };
  } catch (error) {
    if (error instanceof SandboxError) throw error;
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const why = isMissing ? `There is no file ${place}` : `${place} cannot be read: ${reasonOf(error)}`;
    throw new SandboxError(why, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
