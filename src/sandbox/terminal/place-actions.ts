import type { MessageView } from '../control/control-views.ts';
import { newestMessage, visibleMessages } from './chat-action.ts';
import type { ChatAction } from './chat-action.ts';
import { readTarget, requireWords } from './message-target.ts';
import { quoted, readableText } from './readable.ts';

/** So many messages are listed. */
const listed = 15;

/** What there is in a place, and opening places in it. */
export const placeActions: Readonly<Record<string, ChatAction>> = {
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
      const lines = messages.slice(-listed).map((message, index, shown) => {
        const { author, reactions, isEphemeral, isPinned } = message;
        const marks = [
          ...Object.entries(reactions).map(([emoji, names]) => `${emoji} ${names.join(', ')}`),
          ...(isPinned ? ['pinned'] : []),
          ...(isEphemeral ? ['only you see this'] : []),
        ];
        const count = `^${shown.length - index}`.padStart(4);
        const words = quoted(readableText(contentOf(message), scene.names));
        return `${count}  ${author.name}: ${words}${marks.length === 0 ? '' : ` (${marks.join('; ')})`}`;
      });
      return {
        tell: lines.length === 0 ? 'Nothing was written here yet.' : lines.join('\n'),
        expectsAnswer: false,
      };
    },
  },
};

/** What a message says, or what it has instead. */
function contentOf({ text, attachments, poll }: MessageView): string {
  if (text !== '') return text;
  return poll === undefined
    ? attachments.map(({ name }) => `[file ${name}]`).join(' ')
    : `📊 ${poll.question}`;
}
