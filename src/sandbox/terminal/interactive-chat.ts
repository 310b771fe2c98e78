import type { SandboxServer } from '../sandbox-server.ts';
import { BotFeed } from './bot-feed.ts';
import { Chat } from './chat.ts';
import type { PromptLine } from './prompt-line.ts';
import type { Transcript } from './transcript.ts';

/** A bot that still changes a message is given this long before the new wording is shown, in milliseconds. */
const editPauseMs = 500;
/** Discord shows that somebody types for so long, in milliseconds. */
const typingMs = 10_000;

export interface InteractiveChatOptions {
  readonly sandbox: SandboxServer;
  readonly prompt: PromptLine;
  /** Writes above the prompt. */
  readonly transcript: Transcript;
}

/** The chat of a person at a terminal: what the bot writes appears as it comes. Resolves at the end of the input or at `/quit`. */
export async function chatInteractively({
  sandbox,
  prompt,
  transcript,
}: InteractiveChatOptions): Promise<void> {
  const { bot } = await sandbox.info();
  const chat = await Chat.open({
    sandbox,
    transcript,
    echoes: false,
    afterSpeaking: () => Promise.resolve(),
  });
  let showing = Promise.resolve();
  let editPause: NodeJS.Timeout | undefined;
  let typing: NodeJS.Timeout | undefined;

  const feed = new BotFeed({
    sandbox,
    botId: bot.id,
    onChange(change) {
      clearTimeout(editPause);
      if (change === 'edited') {
        editPause = setTimeout(showNow, editPauseMs);
      } else {
        showTyping(false);
        showNow();
      }
    },
  });
  const stopWatching = sandbox.subscribe((event) => {
    if (event.type !== 'typing-started' || event.userId !== bot.id || !chat.isHere(event.channel.id)) return;
    showTyping(true);
  });

  function showNow(): void {
    showing = showing.then(() => chat.show(feed.take()));
  }

  function showTyping(isTyping: boolean): void {
    clearTimeout(typing);
    prompt.hint(isTyping ? `(${bot.name} is typing…)` : '');
    if (isTyping) typing = setTimeout(() => showTyping(false), typingMs);
  }

  try {
    prompt.ask(`${chat.position}> `);
    for await (const line of prompt.lines) {
      if (!(await chat.take(line))) break;
      prompt.ask(`${chat.position}> `);
    }
  } finally {
    feed.close();
    stopWatching();
    clearTimeout(editPause);
    clearTimeout(typing);
    prompt.close();
    await showing;
  }
}
