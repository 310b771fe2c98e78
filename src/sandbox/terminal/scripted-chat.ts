import { SandboxError } from '../control/sandbox-control.ts';
import type { SandboxServer } from '../sandbox-server.ts';
import { collapseEvents, followSandbox, type ChatEvent } from './chat-events.ts';
import { Chat } from './chat.ts';
import type { Lines } from './terminal-mode.ts';
import type { Transcript } from './transcript.ts';

export interface ScriptedChatOptions {
  readonly sandbox: SandboxServer;
  readonly transcript: Transcript;
  /** Resolves when the bot has nothing running or waiting, after-turn work included. */
  readonly settled: () => Promise<void>;
  /** Ends the chat before its next line. */
  readonly signal: AbortSignal;
  /** Plays the demonstration at `/demo`. */
  readonly demonstrate: (options: PlayOptions) => Promise<void>;
}

/** Where the demonstration is shown, and until when. */
export type PlayOptions = Pick<ScriptedChatOptions, 'transcript' | 'signal'>;

/** A conversation that is played where nobody types. */
export interface Demonstration {
  /** Each is begun by a caption. */
  readonly scenes: readonly {
    readonly caption: string;
    readonly lines: readonly { readonly place: string; readonly text: string }[];
  }[];
  /** What is said when it is over. */
  readonly ending: string;
}

/** Takes each line of an input when the bot is done with the one before. Resolves at the end of the input, at `/quit` and at the signal. */
export async function chatByLines(lines: Lines, options: ScriptedChatOptions): Promise<void> {
  const { signal } = options;
  const stop = (): void => lines.close();
  signal.addEventListener('abort', stop, { once: true });
  const { chat, close } = await openFollowedChat(options);
  try {
    for await (const line of lines) {
      if (signal.aborted || !(await chat.take(line))) break;
    }
  } finally {
    close();
    lines.close();
  }
}

/** Plays a conversation of the bot's owner with the bot. */
export async function playDemonstration(
  scenes: Demonstration['scenes'],
  options: ScriptedChatOptions,
): Promise<void> {
  const { transcript, signal } = options;
  const { chat, close } = await openFollowedChat(options);
  try {
    for (const { caption, lines } of scenes) {
      transcript.tell(`\n${caption}`);
      for (const { place, text } of lines) {
        if (signal.aborted) return;
        await chat.go(place);
        await chat.take(text);
      }
    }
  } finally {
    close();
  }
}

/** A chat that shows what is said, waits after it until the bot is done, and shows what is left of that in the end. */
async function openFollowedChat(
  options: ScriptedChatOptions,
): Promise<{ readonly chat: Chat; readonly close: () => void }> {
  const { sandbox, transcript, settled, demonstrate } = options;
  const { bot } = await sandbox.info();
  let waiting: ChatEvent[] = [];
  const close = followSandbox({
    sandbox,
    botId: bot.id,
    onEvent: (event) => waiting.push(event),
  });
  const chat = await Chat.open({
    sandbox,
    transcript,
    echoes: true,
    demonstrate: () => demonstrate(options),
    async afterActing(expectsAnswer) {
      try {
        await sandbox.delivered();
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        transcript.problem(error.message);
      }
      await settled();
      const events = collapseEvents(waiting);
      waiting = [];
      await chat.show(events);
      if (expectsAnswer && !events.some(({ kind }) => kind === 'said')) {
        transcript.note(`(${bot.name} did not answer)`);
      }
    },
  });
  return { chat, close };
}
