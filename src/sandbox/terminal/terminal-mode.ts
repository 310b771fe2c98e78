import { readLines } from './read-lines.ts';
import type { Lines } from './read-lines.ts';

/** How long an input that is no terminal may be silent before it is taken for one whose lines come later, in milliseconds. */
const silenceMs = 1_000;

/** Who speaks: a person at a terminal, the lines of an input, or the demonstration. */
export type TerminalMode =
  | { readonly kind: 'interactive'; readonly input: NodeJS.ReadableStream }
  | { readonly kind: 'lines'; readonly lines: Lines }
  | { readonly kind: 'demonstration' };

interface MaybeTerminal {
  readonly isTTY?: boolean;
}

/**
 * A terminal at both ends is for a person; otherwise the input's lines are taken, and the demonstration is played where there
 * is no input at all. Reads ahead at most to the first line.
 */
export async function chooseTerminalMode(
  input: NodeJS.ReadableStream & MaybeTerminal,
  output: MaybeTerminal,
): Promise<TerminalMode> {
  if (input.isTTY === true && output.isTTY === true) return { kind: 'interactive', input };
  const lines = readLines(input);
  if (!(await lines.isEmpty(silenceMs))) return { kind: 'lines', lines };
  lines.close();
  return { kind: 'demonstration' };
}
