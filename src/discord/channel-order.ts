/**
 * Keeps each channel's events in the order they came in, though some need a fetch first; other channels do not wait. Jobs must not
 * throw: each catches its own errors.
 */
export class ChannelOrder {
  readonly #last = new Map<string, Promise<void>>();

  /** Runs `job` when the channel's earlier jobs are over; resolves when it is over itself. */
  run(channelId: string, job: () => void | Promise<void>): Promise<void> {
    const before = this.#last.get(channelId) ?? Promise.resolve();
    const done = before.then(job).finally(() => {
      if (this.#last.get(channelId) === done) this.#last.delete(channelId);
    });
    this.#last.set(channelId, done);
    return done;
  }

  /** Resolves when every job given until now is over. */
  async idle(): Promise<void> {
    await Promise.all(this.#last.values());
  }
}
