import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

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
