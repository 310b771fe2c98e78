import { SandboxError } from '../control/sandbox-error.ts';
import type { SandboxServer } from '../sandbox-server.ts';
import { followSandbox } from './chat-feed.ts';
import { Chat } from './chat.ts';
import { leftInTheEnd } from './happening.ts';
import type { Happening } from './happening.ts';
import type { Transcript } from './transcript.ts';

export interface FollowedChatOptions {
  readonly sandbox: SandboxServer;
  readonly transcript: Transcript;
  /** Resolves when the bot has nothing running or waiting, after-turn work included. */
  readonly settled: () => Promise<void>;
}

export interface FollowedChat {
  readonly chat: Chat;
  readonly close: () => void;
}

/** A chat that shows what is said, waits after it until the bot is done, and shows what is left of that in the end. */
export async function openFollowedChat(options: FollowedChatOptions): Promise<FollowedChat> {
  const { sandbox, transcript, settled } = options;
  const { bot } = await sandbox.info();
  let waiting: Happening[] = [];
  const close = followSandbox({
    sandbox,
    botId: bot.id,
    onHappening: (happening) => waiting.push(happening),
  });
  const chat = await Chat.open({
    sandbox,
    transcript,
    echoes: true,
    async afterActing(expectsAnswer) {
      try {
        await sandbox.delivered();
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        transcript.problem(error.message);
      }
      await settled();
      const happenings = leftInTheEnd(waiting);
      waiting = [];
      await chat.show(happenings);
      if (expectsAnswer && !happenings.some(({ kind }) => kind === 'said')) {
        transcript.note(`(${bot.name} did not answer)`);
      }
    },
  });
  return { chat, close };
}
