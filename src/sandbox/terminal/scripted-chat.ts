import { SandboxError } from '../control/sandbox-control.ts';
import type { SandboxServer } from '../sandbox-server.ts';
import { Chat } from './chat.ts';
import { followSandbox, leftInTheEnd } from './happenings.ts';
import type { Happening } from './happenings.ts';
import type { Running } from './run-terminal-chat.ts';
import type { Lines } from './terminal-mode.ts';
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

export async function chatByLines(
  lines: Lines,
  { transcript, signal, ...running }: Running & { readonly transcript: Transcript },
): Promise<void> {
  const stop = (): void => lines.close();
  signal.addEventListener('abort', stop, { once: true });
  const { chat, close } = await openFollowedChat({ ...running, transcript });
  try {
    for await (const line of lines) {
      if (signal.aborted || !(await chat.take(line))) break;
    }
  } finally {
    close();
    lines.close();
  }
}

interface Scene {
  readonly caption: string;
  readonly lines: readonly { readonly place: string; readonly text: string }[];
}

const scenes: readonly Scene[] = [
  {
    caption: 'Alice tells it something in #dev …',
    lines: [{ place: '#dev', text: '!memory remember I prefer Rust over Go for command line tools' }],
  },
  {
    caption: '… and it knows it in #general.',
    lines: [{ place: '#general', text: 'which language should I use for my command line tool?' }],
  },
  {
    caption: 'What she says in a DM stays there: in public it does not know it, in the DM it does.',
    lines: [
      { place: '@dm', text: '!memory remember My surprise party is on Friday' },
      { place: '#general', text: 'when is the party?' },
      { place: '@dm', text: 'when is the party?' },
    ],
  },
  {
    caption: 'It shows what it remembers and why; in public only what may be used there.',
    lines: [
      { place: '#general', text: '!memory show' },
      { place: '@dm', text: '!memory show' },
    ],
  },
  {
    caption:
      'From the menu of a message it remembers what she has just said; a slash command it answers to her alone.',
    lines: [
      { place: '#dev', text: 'I always drink green tea while I debug' },
      { place: '#dev', text: '/menu "Remember this" ^2' },
      { place: '#dev', text: '/react 👍' },
      { place: '#general', text: '/memory show' },
    ],
  },
  {
    caption: 'And it forgets when told.',
    lines: [
      { place: '#general', text: '!memory forget Rust' },
      { place: '#general', text: 'which language should I use for my command line tool?' },
    ],
  },
];

export interface DemonstrationOptions {
  readonly sandbox: SandboxServer;
  readonly transcript: Transcript;
  /** Resolves when the bot has nothing running or waiting, after-turn work included. */
  readonly settled: () => Promise<void>;
  readonly signal: AbortSignal;
}

/** Plays a short conversation of Alice with the bot: remembered, used, kept private, shown, forgotten. */
export async function playDemonstration({ signal, ...options }: DemonstrationOptions): Promise<void> {
  const { transcript } = options;
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
  transcript.tell(
    '\nThat was the demonstration. In a terminal, `npm start` opens a chat of your own; `npm start < messages.txt` takes each line as a message.',
  );
}
