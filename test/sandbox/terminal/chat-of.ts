import { Readable } from 'node:stream';

import { readLines } from '../../../src/sandbox/terminal/terminal-mode.ts';
import { runTerminalChat } from '../../../src/sandbox/terminal/run-terminal-chat.ts';
import type { TerminalMode } from '../../../src/sandbox/terminal/terminal-mode.ts';
import { runEchoBot } from './echo-bot.ts';
import type { EchoBot } from './echo-bot.ts';
import { RecordingOutput } from './recording-output.ts';

export const facts = { dataDirectory: '/somewhere/data' };

/** What the chat shows of these lines, the banner left out. */
export async function chatOf(lines: readonly string[], bot?: EchoBot): Promise<string> {
  const mode = { kind: 'lines', lines: readLines(Readable.from([lines.join('\n')])) } as const;
  return (await textOf(mode, bot ?? (await runEchoBot()))).split('\n').slice(3).join('\n');
}

/** All that the chat shows. */
export async function textOf(mode: TerminalMode, { server, settled }: EchoBot): Promise<string> {
  const output = new RecordingOutput();
  const { signal } = new AbortController();
  await runTerminalChat({ mode, sandbox: server, output, settled, facts, signal });
  return output.text;
}
