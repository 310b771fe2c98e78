import { SandboxError } from '../control/sandbox-error.ts';
import type { SandboxServer } from '../sandbox-server.ts';
import { BotFeed } from './bot-feed.ts';
import { Chat } from './chat.ts';
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

/** A chat that shows what is said, waits after it until the bot is done, and shows what it wrote, or that it wrote nothing. */
export async function openFollowedChat(options: FollowedChatOptions): Promise<FollowedChat> {
  const { sandbox, transcript, settled } = options;
  const { bot } = await sandbox.info();
  const feed = new BotFeed({ sandbox, botId: bot.id });
  const chat = await Chat.open({
    sandbox,
    transcript,
    echoes: true,
    async afterSpeaking() {
      try {
        await sandbox.delivered();
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        transcript.problem(error.message);
      }
      await settled();
      const utterances = feed.take();
      await chat.show(utterances);
      if (utterances.length === 0) transcript.note(`(${bot.name} did not answer)`);
    },
  });
  return { chat, close: () => feed.close() };
}
