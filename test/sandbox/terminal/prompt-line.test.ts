import { PassThrough } from 'node:stream';

import { expect, it, onTestFinished } from 'vitest';

import { PromptLine } from '../../../src/sandbox/terminal/prompt-line.ts';
import { RecordingOutput } from '../support/recording-output.ts';

/** What is on the screen: rows of text, of which only those that fit can be changed. */
function screenOf(written: string, rows: number): readonly string[] {
  const lines = [''];
  let row = 0;
  let column = 0;
  // oxlint-disable-next-line no-control-regex -- that is what a terminal obeys
  for (const [whole, count, letter] of written.matchAll(/\u001B\[(\d*)([A-Z])|[^]/gu)) {
    if (letter === 'A') row = Math.max(lines.length - rows, 0, row - Number(count));
    else if (letter === 'G') column = Number(count) - 1;
    else if (letter === 'J') {
      lines.length = row + 1;
      lines[row] = (lines[row] ?? '').slice(0, column);
    } else if (whole === '\n') {
      row += 1;
      lines[row] ??= '';
      column = 0;
    } else if (whole === '\r') column = 0;
    else if (letter === undefined) {
      const line = (lines[row] ?? '').padEnd(column);
      lines[row] = line.slice(0, column) + whole + line.slice(column + 1);
      column += 1;
    }
  }
  return lines;
}

function sitDown(rows = 24): {
  readonly prompt: PromptLine;
  readonly type: (keys: string) => void;
  readonly screen: () => readonly string[];
} {
  const input = new PassThrough();
  const output = Object.assign(new RecordingOutput(), { rows, columns: 80 });
  const prompt = new PromptLine(input, output);
  onTestFinished(() => prompt.close());
  prompt.ask('> ');
  return { prompt, type: (keys) => void input.write(keys), screen: () => screenOf(output.text, rows) };
}

it('is written above, and what is being typed stays', async () => {
  const { prompt, type, screen } = sitDown();
  type('hal');
  await expect.poll(screen).toEqual(['> hal']);
  prompt.write('one\ntwo\n');
  expect(screen()).toEqual(['one', 'two', '> hal']);
  prompt.hint('(typing…)');
  prompt.write('three\n');
  expect(screen()).toEqual(['one', 'two', 'three', '(typing…) > hal']);
  prompt.hint('');
  expect(screen()).toEqual(['one', 'two', 'three', '> hal']);
});

it('is written below once the line was entered, until the next is asked for', async () => {
  const { prompt, type, screen } = sitDown();
  type('go\r');
  await expect.poll(screen).toEqual(['> go', '']);
  prompt.write('one\n');
  prompt.ask('> ');
  expect(screen()).toEqual(['> go', 'one', '> ']);
});
