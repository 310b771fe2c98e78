import { once } from 'node:events';

import type { Suggestion } from './guide.ts';
import { chatInteractively } from './interactive-chat.ts';
import { PromptLine } from './prompt-line.ts';
import {
  chatByLines,
  playDemonstration,
  type Demonstration,
  type PlayOptions,
  type ScriptedChatOptions,
} from './scripted-chat.ts';
import type { TerminalMode } from './terminal-mode.ts';
import { createTranscript, type TerminalOutput } from './transcript.ts';

/** The signal ends the chat at once. */
interface TerminalChatOptions extends Omit<ScriptedChatOptions, 'transcript' | 'demonstrate'> {
  readonly mode: TerminalMode;
  readonly output: TerminalOutput;
  /** What the chat says of the bot at its beginning: labels and texts. */
  readonly facts: readonly (readonly [label: string, text: string])[];
  /** What is played where there is neither a terminal nor an input, and at `/demo`. */
  readonly demonstration: Demonstration;
  /** Makes a world for the demonstration of a running chat, with its own bot, and takes it away when it was played. */
  readonly inFreshWorld: (
    play: (world: Pick<ScriptedChatOptions, 'sandbox' | 'settled'>) => Promise<void>,
  ) => Promise<void>;
  /** What a newcomer at a terminal is led through, in order. */
  readonly suggestions: readonly Suggestion[];
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
  const chatting = chatIn(mode, { ...options, signal });
  // A chat that is waiting for the bot is left alone: its next step finds the signal.
  await Promise.race([chatting, once(signal, 'abort')]);
}

async function chatIn(mode: TerminalMode, options: TerminalChatOptions): Promise<void> {
  const { sandbox, output, settled, signal, demonstration, suggestions } = options;
  const demonstrate = ({ transcript, signal: end }: PlayOptions): Promise<void> =>
    options.inFreshWorld((world) =>
      playDemonstration(demonstration.scenes, { ...world, transcript, signal: end, demonstrate }),
    );
  const isColoured = output.hasColors?.() === true;
  if (mode.kind === 'interactive') {
    const prompt = new PromptLine(mode.input, output);
    signal.addEventListener('abort', () => prompt.close(), { once: true });
    const transcript = createTranscript({
      write: (text) => prompt.write(text),
      isColoured,
      columns: () => output.columns,
    });
    const { bot, owner } = await sandbox.info();
    transcript.tell(
      `You are ${owner.name} in #general: what you type is said there, and ${bot.name} answers. /help tells what else there is, /quit ends.\n`,
    );
    await chatInteractively({ sandbox, prompt, transcript, settled, demonstrate, suggestions });
    return;
  }
  const transcript = createTranscript({ write: (text) => output.write(text), isColoured });
  const scripted = { sandbox, transcript, settled, signal, demonstrate };
  if (mode.kind === 'lines') {
    await chatByLines(mode.lines, scripted);
    return;
  }
  await playDemonstration(demonstration.scenes, scripted);
  if (!signal.aborted) transcript.tell(`\n${demonstration.ending}`);
}

function banner(botName: string, facts: TerminalChatOptions['facts']): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length)) + 2;
  return [
    `${botName} in a sandbox: a small Discord on this machine, without an account.`,
    ...facts.map(([label, text]) => `  ${label.padEnd(width)}${text}`),
  ].join('\n');
}
