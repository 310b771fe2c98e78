import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';
import type { Interface } from 'node:readline';

import type { TerminalOutput } from './transcript.ts';

/** The line at the bottom of a terminal that a person types in, while other text comes above it. */
export class PromptLine {
  readonly #output: TerminalOutput;
  readonly #reader: Interface;
  #isAsking = false;
  #isClosed = false;
  #prompt = '';
  #hint = '';

  constructor(input: NodeJS.ReadableStream, output: TerminalOutput) {
    this.#output = output;
    this.#reader = createInterface({ input, output, terminal: true });
    this.#reader.on('line', () => (this.#isAsking = false));
    this.#reader.on('SIGINT', () => this.close());
    this.#reader.on('close', () => {
      this.#isClosed = true;
      if (this.#isAsking) output.write('\n');
    });
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
    if (!this.#isAsking || this.#isClosed) return;
    this.#erase();
    this.#draw(true);
  }

  /** Writes whole lines above what is being typed. */
  write(text: string): void {
    if (!this.#isAsking || this.#isClosed) {
      this.#output.write(text);
      return;
    }
    this.#erase();
    this.#output.write(text);
    this.#draw(true);
  }

  close(): void {
    if (!this.#isClosed) this.#reader.close();
  }

  #erase(): void {
    moveCursor(this.#output, 0, -this.#reader.getCursorPos().rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
  }

  #draw(keepsCursor: boolean): void {
    this.#reader.setPrompt(this.#hint === '' ? this.#prompt : `${this.#hint} ${this.#prompt}`);
    this.#reader.prompt(keepsCursor);
  }
}
