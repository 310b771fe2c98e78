import type { MessageView } from '../control/control-views.ts';
import { SandboxError } from '../control/sandbox-error.ts';
import { botsMessage, requireShared, visibleMessages } from './chat-action.ts';
import type { ChatAction, Scene } from './chat-action.ts';
import { readLocalFile, readUploadLine } from './local-file.ts';
import { findTarget, readOnlyTarget, readTarget, requireWords } from './message-target.ts';
import { bytesText, quoted, readableText } from './readable.ts';

/** What people write, change and take back. */
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
      const { count } = readOnlyTarget(rest, '/delete takes at most a count, as in /delete ^2');
      const target = await ownMessage(scene, count);
      requireShared(target);
      await scene.sandbox.delete({ message: target.id, as: scene.speaker.id });
      return { expectsAnswer: false };
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
