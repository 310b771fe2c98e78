import type { MessageView } from '../control/control-views.ts';
import { SandboxError } from '../control/sandbox-error.ts';
import { visibleMessages } from './chat-action.ts';
import type { ChatAction, Scene } from './chat-action.ts';
import { readLocalFile, readUploadLine } from './local-file.ts';
import { findTarget, readTarget } from './message-target.ts';
import { bytesText, quoted, readableText } from './readable.ts';

/** So many messages are listed. */
const listed = 15;

/** What people do with messages. */
export const messageActions: Readonly<Record<string, ChatAction>> = {
  reply: {
    usage: '[^2] TEXT',
    meaning: 'answer the bot’s newest message, or the one counted to',
    async act(scene, rest) {
      const { count, rest: text } = readTarget(rest, 'beginning');
      requireWords(text, 'Reply what? /reply TEXT, or /reply ^2 TEXT');
      const target = findTarget(
        await visibleMessages(scene),
        count,
        ({ author }) => author.id === scene.botId,
        'The bot has written nothing here to reply to; /reply ^1 TEXT answers the newest message of all',
      );
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
      return { expectsAnswer: false };
    },
  },
  delete: {
    usage: '[^2]',
    meaning: 'delete your newest message, or another',
    async act(scene, rest) {
      const { count } = onlyTarget(rest, '/delete takes at most a count, as in /delete ^2');
      const target = await ownMessage(scene, count);
      await scene.sandbox.delete({ message: target.id, as: scene.speaker.id });
      return { expectsAnswer: false };
    },
  },
  react: {
    usage: 'EMOJI [^2]',
    meaning: 'react to the bot’s newest message, or take the reaction back (🛑 stops an answer)',
    async act(scene, rest) {
      const { count, rest: emoji } = readTarget(rest, 'either end');
      requireWords(emoji, 'With what? /react 👍, or /react 👍 ^2');
      const target = findTarget(
        await visibleMessages(scene),
        count,
        ({ author, isEphemeral }) => author.id === scene.botId && !isEphemeral,
        'The bot has written nothing here to react to; /react 👍 ^1 means the newest message of all',
      );
      const call = { as: scene.speaker.id, message: target.id, emoji };
      const mine = target.reactions[emoji]?.includes(scene.speaker.name) ?? false;
      await (mine ? scene.sandbox.unreact(call) : scene.sandbox.react(call));
      return { expectsAnswer: false };
    },
  },
  pin: {
    usage: '[^2]',
    meaning: 'pin the newest message, or unpin it',
    async act(scene, rest) {
      const { count } = onlyTarget(rest, '/pin takes at most a count, as in /pin ^2');
      const target = await newestMessage(scene, count);
      const call = { as: scene.speaker.id, message: target.id };
      await (target.isPinned ? scene.sandbox.unpin(call) : scene.sandbox.pin(call));
      return { expectsAnswer: false };
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
        ...(message === undefined ? {} : { message: message.id }),
      });
      return { goTo: thread.id, expectsAnswer: false };
    },
  },
  messages: {
    usage: '',
    meaning: 'the newest messages here, with their counts',
    async act(scene) {
      const messages = await visibleMessages(scene);
      const lines = messages
        .slice(-listed)
        .map(({ author, text, reactions, isEphemeral, isPinned }, index, shown) => {
          const marks = [
            ...Object.entries(reactions).map(([emoji, names]) => `${emoji} ${names.join(', ')}`),
            ...(isPinned ? ['pinned'] : []),
            ...(isEphemeral ? ['only you see this'] : []),
          ];
          const count = `^${shown.length - index}`.padStart(4);
          const words = quoted(readableText(text, scene.names));
          return `${count}  ${author.name}: ${words}${marks.length === 0 ? '' : ` (${marks.join('; ')})`}`;
        });
      return {
        tell: lines.length === 0 ? 'Nothing was written here yet.' : lines.join('\n'),
        expectsAnswer: false,
      };
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

/** That everybody here can see, or the one counted to. */
async function newestMessage(scene: Scene, count: number | undefined): Promise<MessageView> {
  return findTarget(
    await visibleMessages(scene),
    count,
    ({ isEphemeral }) => !isEphemeral,
    'There are no messages here yet',
  );
}

function onlyTarget(rest: string, usage: string): { readonly count?: number } {
  const { rest: more, ...target } = readTarget(rest, 'beginning');
  if (more !== '') throw new SandboxError(usage);
  return target;
}

function requireWords(words: string, question: string): void {
  if (words === '') throw new SandboxError(question);
}
