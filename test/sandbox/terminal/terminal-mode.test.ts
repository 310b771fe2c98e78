import { Readable } from 'node:stream';

import { expect, it } from 'vitest';

import { chooseTerminalMode } from '../../../src/sandbox/terminal/terminal-mode.ts';
import { collect } from './collect.ts';

const terminal = { isTTY: true };
const pipe = {};

function inputOf(chunks: readonly string[], marks: { readonly isTTY?: boolean }): NodeJS.ReadableStream {
  return Object.assign(Readable.from(chunks), marks);
}

it('is interactive with a terminal at both ends', async () => {
  expect((await chooseTerminalMode(inputOf([], terminal), terminal)).kind).toBe('interactive');
});

it('takes lines where there are some, and keeps the first', async () => {
  const mode = await chooseTerminalMode(inputOf(['hi\nho'], pipe), terminal);
  if (mode.kind !== 'lines') throw new Error(`The mode is ${mode.kind}`);
  expect(await collect(mode.lines)).toEqual(['hi', 'ho']);
});

it('takes the lines of a terminal whose output goes elsewhere', async () => {
  expect((await chooseTerminalMode(inputOf(['hi'], terminal), pipe)).kind).toBe('lines');
});

it('plays the demonstration where there is neither terminal nor input', async () => {
  expect((await chooseTerminalMode(inputOf([], pipe), terminal)).kind).toBe('demonstration');
});
