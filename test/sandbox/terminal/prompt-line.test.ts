import { PassThrough } from 'node:stream';

import { describe, expect, it, onTestFinished } from 'vitest';

import { GrowingMessage } from '../../../src/sandbox/terminal/interactive-chat.ts';
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

describe('lines above the prompt that may still change', () => {
  it('are replaced by others, and what is being typed stays', async () => {
    const { prompt, type, screen } = sitDown();
    type('hal');
    await expect.poll(screen).toEqual(['> hal']);
    prompt.live('one\n');
    prompt.live('one\ntwo\n');
    expect(screen()).toEqual(['one', 'two', '> hal']);
    prompt.write('news\n');
    expect(screen()).toEqual(['news', 'one', 'two', '> hal']);
    prompt.live('');
    expect(screen()).toEqual(['news', '> hal']);
  });

  it('stay where they are when the line is entered, and are not live any more', async () => {
    const { prompt, type, screen } = sitDown();
    prompt.live('one\n');
    type('go\r');
    await expect.poll(() => prompt.isLive).toBe(false);
    prompt.ask('> ');
    expect(screen()).toEqual(['one', '> go', '> ']);
  });

  it('are cut to what fits on the screen, and written in full above the line when that is entered', async () => {
    const { prompt, type, screen } = sitDown(8);
    const all = Array.from({ length: 30 }, (_, index) => `line ${index}\n`);
    for (const end of all.keys()) prompt.live(all.slice(0, end + 1).join(''));
    expect(screen()).toEqual(['line 26', 'line 27', 'line 28', 'line 29', '> ']);
    type('go\r');
    await expect.poll(() => prompt.isLive).toBe(false);
    const lines = all.map((line) => line.trim());
    expect(screen()).toEqual([...lines, '> go', '']);
  });
});

describe('a message that grows', () => {
  it('stands there once, whatever came between', () => {
    const { prompt, screen } = sitDown();
    const growing = new GrowingMessage(prompt);
    growing.show('1', 'so\n');
    growing.show('1', 'so it is\n');
    expect(growing.shows('1')).toBe(true);
    prompt.write('bob reacted\n');
    growing.show('1', 'so it is.\n');
    expect(screen()).toEqual(['bob reacted', 'so it is.', '> ']);
    growing.show('2', 'next\n');
    expect(screen()).toEqual(['bob reacted', 'so it is.', 'next', '> ']);
    growing.drop();
    expect(screen()).toEqual(['bob reacted', 'so it is.', '> ']);
    growing.show('3', 'last\n');
    growing.finish();
    growing.finish();
    expect(growing.shows('3')).toBe(false);
    expect(screen()).toEqual(['bob reacted', 'so it is.', 'last', '> ']);
  });
});
