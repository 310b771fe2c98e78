import type { SandboxServer } from '../sandbox-server.ts';
import { followSandbox } from './chat-feed.ts';
import { Chat } from './chat.ts';
import type { Happening } from './happening.ts';
import { GrowingMessage } from './growing-message.ts';
import type { PromptLine } from './prompt-line.ts';
import { growthOf } from './shown-message.ts';
import type { ShownMessage } from './shown-message.ts';
import type { Transcript } from './transcript.ts';

/** Discord shows that somebody types for so long, in milliseconds. */
const typingMs = 10_000;

export interface InteractiveChatOptions {
  readonly sandbox: SandboxServer;
  readonly prompt: PromptLine;
  /** Writes above the prompt. */
  readonly transcript: Transcript;
}

/** The chat of a person at a terminal: what the bot writes appears as it grows. Resolves at the end of the input or at `/quit`. */
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
    afterActing: () => Promise.resolve(),
  });
  const growing = new GrowingMessage(prompt);
  let shown: ShownMessage | undefined;
  let showing = Promise.resolve();
  let typing: NodeJS.Timeout | undefined;

  const stopFollowing = followSandbox({
    sandbox,
    botId: bot.id,
    onHappening(happening) {
      showing = showing.then(() => show(happening));
    },
  });
  const stopWatching = sandbox.subscribe((event) => {
    if (event.type !== 'typing-started' || event.userId !== bot.id || !chat.isHere(event.channel.id)) return;
    showTyping(true);
  });

  async function show(happening: Happening): Promise<void> {
    if (happening.kind === 'said') {
      showTyping(false);
      const { id } = happening.message;
      const { text } = await chat.lineOf(happening);
      const { isCorrection } = happening;
      const growth = growthOf(shown, { id, text, isCorrection }, growing.shows(id));
      ({ shown } = growth);
      const line = await chat.lineOf({ ...happening, isCorrection: growth.isEdited });
      growing.show(id, transcript.format({ ...line, text: growth.text }));
      return;
    }
    if (happening.kind === 'deleted' && growing.shows(happening.message.id)) growing.drop();
    await chat.show([happening]);
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
    stopFollowing();
    stopWatching();
    clearTimeout(typing);
    await showing;
    growing.finish();
    prompt.close();
  }
}
