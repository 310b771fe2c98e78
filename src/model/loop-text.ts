interface Listener {
  readonly onText?: (piece: string) => void;
  readonly onRestart?: () => void;
}

const betweenRounds = '\n\n';

/** The text of a tool loop, round by round, told to a listener as it comes. What the listener was given is always the text so far. */
export class LoopText {
  readonly #listener: Listener;
  #ended = '';
  #round = '';

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  /** The texts of all rounds, the present one as far as it came. */
  get whole(): string {
    return joined(this.#ended, this.#round);
  }

  /** Adds to the present round. White space alone is held back until something follows it. */
  add(piece: string): void {
    const before = this.whole;
    this.#round += piece;
    const shown = this.whole.slice(before.length);
    if (shown !== '') this.#listener.onText?.(shown);
  }

  /** The present round begins again: its text was taken back. */
  restartRound(): void {
    this.#round = '';
    this.#listener.onRestart?.();
    if (this.#ended !== '') this.#listener.onText?.(this.#ended);
  }

  /** Ends the round with its whole text, which counts if nothing of it was streamed. */
  endRound(text: string): void {
    if (this.#round === '') this.add(text);
    this.#ended = this.whole;
    this.#round = '';
  }
}

function joined(ended: string, round: string): string {
  if (round.trim() === '') return ended;
  return ended === '' ? round : `${ended}${betweenRounds}${round}`;
}
