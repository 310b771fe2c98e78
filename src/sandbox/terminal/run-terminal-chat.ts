import { once } from 'node:events';

import type { SandboxServer } from '../sandbox-server.ts';
import { SandboxError, type WorldEvent } from '../world/world.ts';
import { Chat } from './chat.ts';
import { createGuide, type Suggestion } from './guide.ts';
import { newsOf } from './news.ts';
import { PromptLine } from './prompt-line.ts';
import type { TerminalMode } from './terminal-mode.ts';
import { createTranscript, type TerminalOutput, type Transcript } from './transcript.ts';

/** A sandbox with a bot that is connected to it. */
interface World {
  readonly sandbox: SandboxServer;
  /** Resolves when the bot has nothing running or waiting, after-turn work included. */
  readonly settled: () => Promise<void>;
}

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

interface TerminalChatOptions extends World {
  readonly mode: TerminalMode;
  readonly output: TerminalOutput;
  /** What the chat says of the bot at its beginning: labels and texts. */
  readonly facts: readonly (readonly [label: string, text: string])[];
  /** What is played where there is neither a terminal nor an input, and at `/demo`. */
  readonly demonstration: Demonstration;
  /** Makes a world with its own bot for the demonstration of a running chat, and takes it away after it. */
  readonly inFreshWorld: (play: (world: World) => Promise<void>) => Promise<void>;
  /** What a newcomer at a terminal is led through, in order. */
  readonly suggestions: readonly Suggestion[];
  /** Ends the chat at once. */
  readonly signal: AbortSignal;
}

/**
 * The chat with a bot that is connected to the sandbox. Resolves when it is over: at the end of the input, at `/quit`, Ctrl-C or
 * Ctrl-D, when the demonstration was played, at the signal, and when the output is gone. Neither bot nor sandbox are stopped.
 */
export async function runTerminalChat(options: TerminalChatOptions): Promise<void> {
  const { sandbox, output } = options;
  const outputGone = new AbortController();
  output.on('error', () => outputGone.abort());
  const signal = AbortSignal.any([options.signal, outputGone.signal]);
  const { bot } = await sandbox.info();
  output.write(`${banner(bot.name, options.facts)}\n`);
  if (signal.aborted) return;
  // A chat that is waiting for the bot is left alone: its next step finds the signal.
  await Promise.race([chatIn({ ...options, signal }), once(signal, 'abort')]);
}

function banner(botName: string, facts: TerminalChatOptions['facts']): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length)) + 2;
  return [
    `${botName} in a sandbox: a small Discord on this machine, without an account.`,
    ...facts.map(([label, text]) => `  ${label.padEnd(width)}${text}`),
  ].join('\n');
}

async function chatIn(options: TerminalChatOptions): Promise<void> {
  const { mode, output, signal, demonstration } = options;
  const isColoured = output.hasColors?.() === true;
  if (mode.kind === 'interactive') {
    const prompt = new PromptLine(mode.input, output);
    signal.addEventListener('abort', () => prompt.close(), { once: true });
    const write = (text: string): void => prompt.write(text);
    const transcript = createTranscript({ write, isColoured, columns: () => output.columns });
    await talk({ ...options, transcript, signal: prompt.closed }, prompt);
    return;
  }
  const transcript = createTranscript({ write: (text) => output.write(text), isColoured });
  if (mode.kind === 'lines') {
    await takeLines(mode.lines, { ...options, transcript });
    return;
  }
  await play({ ...options, transcript });
  if (!signal.aborted) transcript.tell(`\n${demonstration.ending}`);
}

interface ConversationOptions extends TerminalChatOptions {
  readonly transcript: Transcript;
}

/** Takes each line when the bot is done with the one before. */
async function takeLines(
  lines: Extract<TerminalMode, { kind: 'lines' }>['lines'],
  options: ConversationOptions,
): Promise<void> {
  options.signal.addEventListener('abort', () => lines.close(), { once: true });
  const conversation = await beginConversation(options, true);
  try {
    for await (const line of lines) {
      if (options.signal.aborted || !(await conversation.chat.take(line))) break;
    }
  } finally {
    conversation.end();
    lines.close();
  }
}

/** Plays the demonstration: the bot's owner speaks. */
async function play(options: ConversationOptions): Promise<void> {
  const { transcript, signal, demonstration } = options;
  const { chat, end } = await beginConversation(options, true);
  try {
    for (const { caption, lines } of demonstration.scenes) {
      transcript.tell(`\n${caption}`);
      for (const { place, text } of lines) {
        if (signal.aborted) return;
        await chat.go(place);
        await chat.take(text);
      }
    }
  } finally {
    end();
  }
}

/** Discord shows that somebody types for so long, in milliseconds. */
const typingMs = 10_000;

/** What did not change for so long is told, in milliseconds; a bot that writes on edits every second or so. */
const quietMs = 2_500;

/** A person at a terminal types while the bot works, and is told what it wrote when that is whole. */
async function talk(options: ConversationOptions, prompt: PromptLine): Promise<void> {
  const { sandbox, transcript, suggestions, signal } = options;
  const { bot, owner } = await sandbox.info();
  transcript.tell(
    `You are ${owner.name} in #general: what you type is said there, and ${bot.name} answers. /help tells what else there is, /quit ends.\n`,
  );
  const guide = createGuide(suggestions, transcript);
  const { chat, ...conversation } = await beginConversation(options, false);
  let later: NodeJS.Timeout | undefined;
  let isPending = false;
  const stopWatching = sandbox.subscribe((event) => {
    const isTyping = event.type === 'typing-started';
    if (isTyping && !chat.isHere(event.channel.id)) return;
    if (isTyping) prompt.hint(`(${bot.name} is typing…)`);
    // What waits to be told does not wait longer because the bot goes on.
    if (isTyping && isPending) return;
    isPending ||= !isTyping;
    clearTimeout(later);
    later = setTimeout(() => void tell(), isTyping ? typingMs : quietMs);
  });
  async function tell(): Promise<void> {
    clearTimeout(later);
    isPending = false;
    prompt.hint('');
    await conversation.tell();
  }
  async function finish(suggestsNext: boolean): Promise<void> {
    await conversation.done();
    await tell();
    if (suggestsNext && !signal.aborted) guide.show();
  }

  try {
    guide.begin();
    prompt.ask(`${chat.position}> `);
    for await (const line of prompt.lines) {
      if (!(await chat.take(line))) break;
      prompt.ask(`${chat.position}> `);
      void finish(guide.took(line));
    }
  } finally {
    await tell();
    stopWatching();
    clearTimeout(later);
    conversation.end();
    prompt.close();
  }
}

/** A chat, and what happens in it. In a scripted one nobody types while the bot works. */
async function beginConversation(options: ConversationOptions, isScripted: boolean) {
  const { sandbox, transcript, settled, inFreshWorld } = options;
  const { bot } = await sandbox.info();
  const untold = new Set<string>();
  let waiting: WorldEvent[] = [];
  let telling = Promise.resolve(false);
  const end = sandbox.subscribe((event) => {
    waiting.push(event);
  });
  const chat = await Chat.open({
    sandbox,
    transcript,
    echoes: isScripted,
    demonstrate: () => inFreshWorld((world) => play({ ...options, ...world })),
    async afterActing(expectsAnswer) {
      if (!isScripted) return;
      await done();
      if (!(await tell()) && expectsAnswer) transcript.note(`(${bot.name} did not answer)`);
    },
  });

  /** Resolves when the bot is done with all that it has heard. */
  async function done(): Promise<void> {
    try {
      await sandbox.delivered();
    } catch (error) {
      if (!(error instanceof SandboxError)) throw error;
      if (!options.signal.aborted) transcript.problem(error.message);
    }
    await settled();
  }

  /** Tells what has happened since the last time, and resolves with whether anything was said. */
  async function tell(): Promise<boolean> {
    telling = telling.then(async () => {
      const reader = await chat.reader();
      const events = waiting;
      waiting = [];
      const news = newsOf(events, untold, reader);
      for (const each of news) {
        if (each.kind === 'said') transcript.line(each.line);
        else transcript.note(each.text);
      }
      return news.some(({ kind }) => kind === 'said');
    });
    return await telling;
  }

  return { chat, done, tell, end };
}
