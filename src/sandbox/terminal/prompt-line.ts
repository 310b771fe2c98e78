import { clearScreenDown, createInterface, cursorTo, moveCursor, type Interface } from 'node:readline';

import type { TerminalOutput } from './transcript.ts';

/** Rows that stay free below text that may still change, for the prompt and what is typed. */
const rowsBelow = 4;

/** The line at the bottom of a terminal that a person types in, while other text comes above it. */
export class PromptLine {
  readonly #output: TerminalOutput;
  readonly #reader: Interface;
  readonly #closing = new AbortController();
  #isAsking = false;
  #isClosed = false;
  #prompt = '';
  #hint = '';
  #live = '';

  constructor(input: NodeJS.ReadableStream, output: TerminalOutput) {
    this.#output = output;
    this.#reader = createInterface({ input, output, terminal: true });
    this.#reader.on('line', (line: string) => this.#leaveLine(line));
    this.#reader.on('SIGINT', () => this.close());
    this.#reader.on('close', () => {
      this.#isClosed = true;
      this.#closing.abort();
      if (!this.#isAsking) return;
      output.write('\n');
      this.#leaveLine('');
    });
  }

  /** Aborts when nothing more is typed. */
  get closed(): AbortSignal {
    return this.#closing.signal;
  }

  /** The lines as they are typed, until Ctrl-C, Ctrl-D or `close`. Iterate once. */
  get lines(): AsyncIterable<string> {
    return this.#reader;
  }

  /** Shows the prompt for the next line. */
  ask(prompt: string): void {
    if (this.#isClosed) return;
    this.#prompt = prompt;
    this.#isAsking = true;
    this.#draw(false);
  }

  /** Shows a hint before the prompt; an empty one takes it away. What was typed stays. */
  hint(hint: string): void {
    if (hint === this.#hint) return;
    this.#hint = hint;
    this.#redraw();
  }

  /**
   * Shows whole lines right above the prompt that may still change: the next call puts others in their place, an empty text
   * takes them away. Of more lines than the screen has rows, the last are shown.
   */
  live(text: string): void {
    if (text === this.#live) return;
    this.#live = text;
    this.#redraw();
  }

  /** Whether the lines of `live` are still there to be changed: a line that was entered leaves them where they are. */
  get isLive(): boolean {
    return this.#live !== '';
  }

  /** Writes whole lines above what may still change and what is being typed. */
  write(text: string): void {
    if (!this.#isAsking || this.#isClosed) {
      this.#output.write(text);
      return;
    }
    const { rows } = this.#reader.getCursorPos();
    moveCursor(this.#output, 0, -rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    // The reader goes up again by the rows that it has drawn last.
    this.#output.write(text + '\n'.repeat(rows));
    this.#draw(true);
  }

  close(): void {
    if (!this.#isClosed) this.#reader.close();
  }

  /** What stands above the line stays on the screen, all of it where it was cut. The cursor is below the line. */
  #leaveLine(line: string): void {
    this.#isAsking = false;
    const shown = this.#liveShown();
    if (shown !== this.#live) {
      const asked = this.#promptShown() + line;
      this.#reader.setPrompt(shown + asked);
      moveCursor(this.#output, 0, -this.#reader.getCursorPos().rows - 1);
      cursorTo(this.#output, 0);
      clearScreenDown(this.#output);
      this.#output.write(`${this.#live}${asked}\n`);
    }
    this.#live = '';
  }

  #redraw(): void {
    if (this.#isAsking && !this.#isClosed) this.#draw(true);
  }

  /** The reader erases what it has drawn before. */
  #draw(keepsCursor: boolean): void {
    this.#reader.setPrompt(this.#liveShown() + this.#promptShown());
    this.#reader.prompt(keepsCursor);
  }

  #promptShown(): string {
    return this.#hint === '' ? this.#prompt : `${this.#hint} ${this.#prompt}`;
  }

  /** The last lines of what may still change, as many as surely fit: a row above the screen could not be erased again. */
  #liveShown(): string {
    const { rows, columns } = this.#output;
    if (rows === undefined || columns === undefined) return this.#live;
    let free = Math.max(1, rows - rowsBelow);
    const lines = this.#live.split('\n').slice(0, -1);
    const shown: string[] = [];
    for (const line of lines.toReversed()) {
      // Wide letters take two columns.
      free -= Math.max(1, Math.ceil((line.length * 2) / columns));
      if (free < 0) break;
      shown.unshift(line);
    }
    return shown.map((line) => `${line}\n`).join('');
  }
}
