import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** An input that is silent for so long, in milliseconds, has lines that come later. */
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
 * is not input at all. Reads ahead at most to the first line.
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

/** The lines of an input, each given once, without their line ends; an input that cannot be read has none. */
export interface Lines extends AsyncIterable<string> {
  /**
   * True when the input ended before its first line. False as soon as there is a line, and after `withinMs` milliseconds of
   * silence, when lines may still come. Takes no line away.
   */
  isEmpty(withinMs: number): Promise<boolean>;
  /** Reads no further; lines that were not taken yet are still given. */
  close(): void;
}

/** Reads from now on, as fast as the lines are taken. Iterate once. */
export function readLines(input: NodeJS.ReadableStream): Lines {
  const reader = createInterface({ input, crlfDelay: Infinity });
  const iterator = reader[Symbol.asyncIterator]();
  const first = iterator.next();
  return {
    async isEmpty(withinMs) {
      const silence = new AbortController();
      const waiting = delay(withinMs, undefined, { signal: silence.signal }).catch(() => undefined);
      const read = await Promise.race([first, waiting]);
      silence.abort();
      return read?.done === true;
    },
    async *[Symbol.asyncIterator]() {
      for (let read = await first; read.done !== true; read = await iterator.next()) yield read.value;
    },
    close: () => reader.close(),
  };
}
