import { once } from 'node:events';

import type { SandboxServer } from '../sandbox-server.ts';
import { banner } from './chat-texts.ts';
import type { BotFacts } from './chat-texts.ts';
import { chatInteractively } from './interactive-chat.ts';
import { PromptLine } from './prompt-line.ts';
import { chatByLines, playDemonstration } from './scripted-chat.ts';
import type { TerminalMode } from './terminal-mode.ts';
import { createTranscript } from './transcript.ts';
import type { TerminalOutput, Transcript } from './transcript.ts';

export interface TerminalChatOptions {
  readonly mode: TerminalMode;
  readonly sandbox: SandboxServer;
  readonly output: TerminalOutput;
  /** Resolves when the bot has nothing running or waiting, after-turn work included. */
  readonly settled: () => Promise<void>;
  readonly facts: BotFacts;
  /** Ends the chat at once. */
  readonly signal: AbortSignal;
}

export interface Running extends TerminalChatOptions {
  readonly isColoured: boolean;
}

/**
 * The chat with a bot that is connected to the sandbox. Resolves when it is over: at the end of the input, at `/quit`, Ctrl-C or
 * Ctrl-D, when the demonstration was played, at the signal, and when the output is gone. Neither bot nor sandbox are stopped.
 */
export async function runTerminalChat(options: TerminalChatOptions): Promise<void> {
  const { mode, sandbox, output } = options;
  const outputGone = new AbortController();
  output.on('error', () => outputGone.abort());
  const signal = AbortSignal.any([options.signal, outputGone.signal]);
  const { bot } = await sandbox.info();
  output.write(`${banner(bot.name, options.facts)}\n`);
  if (signal.aborted) return;
  const chatting = chatIn(mode, { ...options, signal, isColoured: output.hasColors?.() === true });
  // A chat that is waiting for the bot is left alone: its next step finds the signal.
  await Promise.race([chatting, once(signal, 'abort')]);
}

async function chatIn(mode: TerminalMode, running: Running): Promise<void> {
  const { sandbox, output, isColoured, settled, signal } = running;
  switch (mode.kind) {
    case 'interactive': {
      const prompt = new PromptLine(mode.input, output);
      signal.addEventListener('abort', () => prompt.close(), { once: true });
      const transcript = createTranscript({ write: (text) => prompt.write(text), isColoured });
      transcript.tell('/help tells what there is, /quit ends.\n');
      await chatInteractively({ sandbox, prompt, transcript });
      return;
    }
    case 'lines':
      await chatByLines(mode.lines, { ...running, transcript: plainTranscript(running) });
      return;
    case 'demonstration':
      await playDemonstration({ sandbox, transcript: plainTranscript(running), settled, signal });
  }
}

function plainTranscript({ output, isColoured }: Running): Transcript {
  return createTranscript({ write: (text) => output.write(text), isColoured });
}
