import type { ChatAction } from './chat-action.ts';
import { botsMessage, newestMessage, visibleMessages } from './chat-action.ts';
import { findTarget, readOnlyTarget, readTarget, requireWords } from './message-target.ts';

/** What people put on messages. */
export const markActions: Readonly<Record<string, ChatAction>> = {
  react: {
    usage: 'EMOJI [^2]',
    meaning: 'react to the bot’s newest message, or take the reaction back (🛑 stops an answer)',
    async act(scene, rest) {
      const { count, rest: emoji } = readTarget(rest, 'either end');
      requireWords(emoji, 'With what? /react 👍, or /react 👍 ^2');
      const missing =
        'The bot has written nothing here to react to; /react 👍 ^1 means the newest message of all';
      const target = await botsMessage(scene, count, missing);
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
      const { count } = readOnlyTarget(rest, '/pin takes at most a count, as in /pin ^2');
      const target = await newestMessage(scene, count);
      const call = { as: scene.speaker.id, message: target.id };
      await (target.isPinned ? scene.sandbox.unpin(call) : scene.sandbox.pin(call));
      return { expectsAnswer: false };
    },
  },
  vote: {
    usage: 'ANSWER [^2]',
    meaning: 'vote in the newest poll, or take the vote back',
    async act(scene, rest) {
      const { count, rest: words } = readTarget(rest, 'either end');
      requireWords(words, 'For what? /vote ANSWER');
      const target = findTarget(
        await visibleMessages(scene),
        count,
        ({ poll }) => poll !== undefined,
        'There is no poll here',
      );
      const answers = target.poll?.answers ?? [];
      const answer = answers.find(({ text }) => text.toLowerCase() === words.toLowerCase());
      await scene.sandbox.vote({
        as: scene.speaker.id,
        message: target.id,
        answer: answer?.text ?? words,
        withdraw: answer?.votes.includes(scene.speaker.name) ?? false,
      });
      return { expectsAnswer: false };
    },
  },
};
