import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { chooseTerminalMode, readLines } from '../../../src/sandbox/terminal/terminal-mode.ts';

const terminal = { isTTY: true };
const pipe = {};

function inputOf(chunks: readonly string[], marks: { readonly isTTY?: boolean }): NodeJS.ReadableStream {
  return Object.assign(Readable.from(chunks), marks);
}

/** Everything that an iteration gives, in order. */
async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('the chat', () => {
  it('takes lines where there are some, and keeps the first', async () => {
    const mode = await chooseTerminalMode(inputOf(['hi\nho'], pipe), terminal);
    if (mode.kind !== 'lines') throw new Error(`The mode is ${mode.kind}`);
    expect(await collect(mode.lines)).toEqual(['hi', 'ho']);
  });

  it('plays the demonstration where there is neither terminal nor input', async () => {
    expect((await chooseTerminalMode(inputOf([], pipe), terminal)).kind).toBe('demonstration');
  });
});

describe('the lines of an input', () => {
  it('gives every line once, whatever the line ends, also the last without one', async () => {
    const lines = readLines(Readable.from(['one\r\ntw', 'o\n\nlast']));
    expect(await lines.isEmpty(1_000)).toBe(false);
    expect(await collect(lines)).toEqual(['one', 'two', '', 'last']);
  });

  it('loses no line when they come faster than they are taken', async () => {
    const wanted = Array.from({ length: 3_000 }, (_, index) => `line ${index}`);
    const lines = readLines(Readable.from([wanted.join('\n')]));
    const taken: string[] = [];
    for await (const line of lines) {
      if (taken.length % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
      taken.push(line);
    }
    expect(taken).toEqual(wanted);
  });
});
