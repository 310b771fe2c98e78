import type { APIMessage } from 'discord.js';

import type { RepliesOptions } from '../../../src/discord/replies/growing-reply.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const botId = '130000000000000001';

/** One version of a message, or its end, with when its request was over. */
export interface Change {
  readonly kind: 'post' | 'edit' | 'delete';
  readonly id: string;
  readonly content: string;
  /** Milliseconds since the beginning. */
  readonly begunAt: number;
  readonly at: number;
}

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

/** A channel and a clock in which nothing happens by itself: requests take `latencyMs`, time goes on when it is told to. */
export class VirtualDiscord {
  readonly changes: Change[] = [];
  readonly standing = new Map<string, string>();
  readonly nonces: string[] = [];
  /** Messages that the bot was told are not there any more. */
  readonly removed: string[] = [];
  readonly logger = new RecordingLogger();
  /** Failures of the requests to come, in order; `undefined` lets one pass. */
  readonly failures: (Error | undefined)[] = [];
  latencyMs = 0;
  mostAtOnce = 0;
  #now = 0;
  #open = 0;
  #sleepers: Sleeper[] = [];
  readonly #byNonce = new Map<string, string>();

  readonly options: RepliesOptions = {
    botId: () => botId,
    clock: () => new Date(this.#now),
    logger: this.logger,
    retryDelaysMs: [500, 2000, 5000],
    onSent: () => {},
    onEdited: () => {},
    onRemoved: (_channelId, id) => void this.removed.push(id),
    sleep: (milliseconds, signal) => this.sleep(milliseconds, signal),
    api: {
      messagesAfter: () => Promise.resolve([]),
      message: () => Promise.reject(new Error('not asked for')),
      showTyping: () => Promise.resolve(),
      openThread: () => Promise.resolve(),
      openDm: () => Promise.resolve('200000000000000009'),
      react: () => Promise.resolve(),
      postMessage: (_channelId, { content = '', nonce = '' }) =>
        this.#request('post', () => {
          const known = this.#byNonce.get(String(nonce));
          if (known !== undefined) return known;
          this.nonces.push(String(nonce));
          const id = String(900_000_000_000_000_000n + BigInt(this.nonces.length));
          this.#byNonce.set(String(nonce), id);
          this.standing.set(id, content);
          return id;
        }),
      editMessage: (_channelId, id, { content }, signal) =>
        this.#request('edit', () => {
          signal?.throwIfAborted();
          this.standing.set(id, content ?? '');
          return id;
        }),
      deleteMessage: async (_channelId, id) => {
        await this.#request('delete', () => id);
        this.standing.delete(id);
      },
    },
  };

  /** All that stands there, in order. */
  get texts(): readonly string[] {
    return [...this.standing.values()];
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (milliseconds <= 0 || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { until: this.#now + milliseconds, wake };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', wake);
    });
  }

  /** Lets so much time go by, and everything happen in it. */
  async pass(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    for (;;) {
      await settle();
      const next = this.#sleepers.toSorted((a, b) => a.until - b.until)[0];
      if (next === undefined || next.until > end) break;
      this.#now = next.until;
      next.wake();
    }
    this.#now = end;
  }

  /** Lets time go by until something is over. */
  async until<Value>(work: Promise<Value>): Promise<Value> {
    const state = { isOver: false };
    const watched = work.finally(() => (state.isOver = true));
    watched.catch(() => {});
    for (let turn = 0; turn < 1000 && !state.isOver; turn += 1) await this.pass(100);
    return watched;
  }

  async #request(kind: Change['kind'], effect: () => string): Promise<APIMessage> {
    const begunAt = this.#now;
    this.#open += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#open);
    try {
      await this.sleep(this.latencyMs);
      const failure = this.failures.shift();
      if (failure !== undefined) throw failure;
      const id = effect();
      const content = this.standing.get(id) ?? '';
      this.changes.push({ kind, id, content, begunAt, at: this.#now });
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
      return { id, content } as APIMessage;
    } finally {
      this.#open -= 1;
    }
  }
}

async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
