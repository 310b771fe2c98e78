import type { Timer } from '../../src/core/time.ts';

/** A timer whose time passes when a test says so. */
export class ManualTimer {
  #now = 0;
  readonly #waiting = new Set<{ readonly time: number; readonly callback: () => void }>();

  /** Milliseconds since the beginning. */
  get now(): number {
    return this.#now;
  }

  readonly set: Timer = (callback, ms) => {
    const entry = { time: this.#now + ms, callback };
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  };

  /** Callbacks that are due by then, also new ones, are called in order. */
  pass(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#waiting].filter(({ time }) => time <= end).toSorted((a, b) => a.time - b.time);
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#now = next.time;
      next.callback();
    }
    this.#now = end;
  }
}
