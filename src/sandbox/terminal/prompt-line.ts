import { clearScreenDown, createInterface, cursorTo, moveCursor, type Interface } from 'node:readline';

import type { TerminalOutput } from './transcript.ts';

/** The line at the bottom of a terminal that a person types in, while other text comes above it. */
export class PromptLine {
  readonly #output: TerminalOutput;
  readonly #reader: Interface;
  readonly #closing = new AbortController();
  #isAsking = false;
  #prompt = '';
  #hint = '';

  constructor(input: NodeJS.ReadableStream, output: TerminalOutput) {
    this.#output = output;
    this.#reader = createInterface({ input, output, terminal: true });
    this.#reader.on('line', () => (this.#isAsking = false));
    this.#reader.on('SIGINT', () => this.close());
    this.#reader.on('close', () => {
      this.#closing.abort();
      if (this.#isAsking) output.write('\n');
      this.#isAsking = false;
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
    if (this.closed.aborted) return;
    this.#prompt = prompt;
    this.#isAsking = true;
    this.#draw(false);
  }

  /** Shows a hint before the prompt; an empty one takes it away. What was typed stays. */
  hint(hint: string): void {
    if (hint === this.#hint) return;
    this.#hint = hint;
    if (this.#isAsking) this.#draw(true);
  }

  /** Writes whole lines above what is being typed. */
  write(text: string): void {
    if (!this.#isAsking) {
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
    if (!this.closed.aborted) this.#reader.close();
  }

  /** The reader erases what it has drawn before. */
  #draw(keepsCursor: boolean): void {
    this.#reader.setPrompt(this.#hint === '' ? this.#prompt : `${this.#hint} ${this.#prompt}`);
    this.#reader.prompt(keepsCursor);
  }
}
