import { Readable } from 'node:stream';

import { runTerminalChat } from '../../../src/sandbox/terminal/run-terminal-chat.ts';
import { readLines, type TerminalMode } from '../../../src/sandbox/terminal/terminal-mode.ts';
import { runEchoBot, type EchoBot } from './echo-bot.ts';
import { RecordingOutput } from './recording-output.ts';

export const facts = [
  ['voice', 'a parrot'],
  ['perch', '/somewhere/data'],
] as const;

/** What is played where nobody types. */
export const demonstration = {
  scenes: [
    {
      caption: 'Alice says something in #dev …',
      lines: [{ place: '#dev', text: 'I prefer Rust over Go for command line tools' }],
    },
    {
      caption: '… and asks elsewhere.',
      lines: [
        { place: '#general', text: 'when is the party?' },
        { place: '@dm', text: 'when is the party?' },
      ],
    },
    {
      caption: 'She gives commands.',
      lines: [
        { place: '#dev', text: 'I always drink green tea while I debug' },
        { place: '#dev', text: '/menu "Echo this" ^2' },
        { place: '#general', text: '/echo say tea' },
      ],
    },
  ],
  ending: 'That was it.',
};

/** A world of its own with another bot. */
export async function inFreshWorld(
  play: (world: { sandbox: EchoBot['server']; settled: EchoBot['settled'] }) => Promise<void>,
): Promise<void> {
  const { server, settled } = await runEchoBot();
  await play({ sandbox: server, settled });
}

/** What the chat shows of these lines, the banner left out. */
export async function chatOf(lines: readonly string[], bot?: EchoBot): Promise<string> {
  const mode = { kind: 'lines', lines: readLines(Readable.from([lines.join('\n')])) } as const;
  return (await textOf(mode, bot ?? (await runEchoBot()))).split('\n').slice(3).join('\n');
}

/** All that the chat shows. */
export async function textOf(mode: TerminalMode, { server, settled }: EchoBot): Promise<string> {
  const output = new RecordingOutput();
  const { signal } = new AbortController();
  await runTerminalChat({
    mode,
    sandbox: server,
    output,
    settled,
    facts,
    demonstration,
    inFreshWorld,
    suggestions: [],
    signal,
  });
  return output.text;
}
