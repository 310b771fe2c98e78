import { Writable } from 'node:stream';

/** An output that keeps what was written, and can be waited on. */
export class RecordingOutput extends Writable {
  #text = '';
  #waiting: (() => void)[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#text += chunk.toString();
    for (const look of this.#waiting) look();
    done();
  }

  get text(): string {
    return this.#text;
  }

  /** Resolves once `wanted` was written; a test that waits in vain ends by its time limit. */
  async toContain(wanted: string): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (this.#text.includes(wanted)) resolve();
      };
      this.#waiting.push(look);
      look();
    });
  }
}
