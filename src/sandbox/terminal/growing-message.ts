import type { PromptLine } from './prompt-line.ts';

/** A message that was not changed for so long counts as finished, in milliseconds; a bot edits every second or so. */
const quietMs = 2_500;

/**
 * The newest message of the bot, kept right above the prompt while it may still grow, and written for good when it has been
 * quiet, or something else comes.
 */
export class GrowingMessage {
  readonly #prompt: PromptLine;
  #messageId: string | undefined;
  #text = '';
  #quiet: NodeJS.Timeout | undefined;

  constructor(prompt: PromptLine) {
    this.#prompt = prompt;
  }

  /** Whether the message can still be changed where it stands. */
  shows(messageId: string): boolean {
    return this.#messageId === messageId && this.#prompt.isLive;
  }

  /** Shows a message as it is now; one that stands above the prompt is replaced. `text` is whole lines. */
  show(messageId: string, text: string): void {
    if (!this.shows(messageId)) this.finish();
    this.#messageId = messageId;
    this.#text = text;
    this.#prompt.live(text);
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => this.finish(), quietMs);
  }

  /** Writes the message for good. */
  finish(): void {
    const isOpen = this.#prompt.isLive;
    const text = this.#text;
    this.drop();
    if (isOpen) this.#prompt.write(text);
  }

  /** Takes the message away. */
  drop(): void {
    clearTimeout(this.#quiet);
    this.#messageId = undefined;
    this.#text = '';
    this.#prompt.live('');
  }
}
