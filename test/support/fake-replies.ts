import type { Footer, FoundReply, GrowingReply, ReplyPort, ReplyStart } from '../../src/core/reply.ts';

/** What a fake channel notes of replies, in order. */
export interface FakeRepliesOptions {
  /** `show <text>`, `send <text> as <end of nonce>`, `footer <lines>`, `withdraw`, `typing ends`. */
  readonly note?: (step: string) => void;
  /** The id of the message that is posted next. */
  readonly nextId?: () => string;
  /** What stands in the channel of a message and its reply. */
  readonly found?: FoundReply;
  /** Messages can be edited no more. */
  readonly cannotAmend?: () => boolean;
}

/** A channel that takes what is sent and shown at once, each text as one message. */
export function fakeReplies(options: FakeRepliesOptions = {}): ReplyPort {
  const {
    note = () => {},
    nextId = () => '900000000000000001',
    found = { questionExists: true, ids: [] },
    cannotAmend = () => false,
  } = options;
  const footers = new Map<string, readonly string[]>();
  return {
    typing: () => ({ show: () => {}, end: () => note('typing ends') }),
    find: () => Promise.resolve(found),
    tellRefused: ({ messageId }, reason) =>
      Promise.resolve(note(`tell refused ${reason} at ${messageId.slice(-2)}`)),
    async send(_channelId, text, nonceBase, beforeSeen) {
      note(`send ${text} as ${nonceBase.slice(-2)}`);
      const id = nextId();
      await beforeSeen?.(id);
      return { kind: 'sent' as const, ids: [id] };
    },
    begin: (start) => new FakeGrowingReply(start, note, nextId),
    async amend(_channelId, messageId, change) {
      if (cannotAmend()) return false;
      const footer = await change(footers.get(messageId) ?? []);
      if (footer === undefined) return true;
      footers.set(messageId, footer.lines);
      note(`footer ${footer.lines.join(' | ')}`);
      return true;
    },
  };
}

class FakeGrowingReply implements GrowingReply {
  readonly #start: ReplyStart;
  readonly #note: (step: string) => void;
  readonly #nextId: () => string;
  #ids: readonly string[];
  #isClosed = false;
  #last: Promise<unknown> = Promise.resolve();
  #hasBegun: boolean;

  constructor(start: ReplyStart, note: (step: string) => void, nextId: () => string) {
    this.#start = start;
    this.#note = note;
    this.#nextId = nextId;
    this.#ids = start.existingIds ?? [];
    this.#hasBegun = this.#ids.length > 0;
  }

  hasStarted(): boolean {
    return this.#hasBegun;
  }

  show(text: string): void {
    this.#last = this.#last.then(() => this.#put(text, `show ${text}`));
  }

  hold(): void {}

  async finish(text: string, { lines = [] }: Partial<Footer> = {}) {
    await this.#last;
    const whole = [text, ...lines].join('\n-# ');
    const isThere = await this.#put(text, `send ${whole} as ${this.#start.nonceBase.slice(-2)}`);
    this.#isClosed = true;
    return isThere ? { kind: 'sent' as const, ids: this.#ids } : { kind: 'withheld' as const };
  }

  async takeAway(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#last;
    if (this.#ids.length > 0) this.#note('withdraw');
    this.#ids = [];
  }

  async #put(text: string, step: string): Promise<boolean> {
    if (this.#isClosed || !(await this.#start.mayShow())) return false;
    if (this.#ids.length === 0) {
      this.#hasBegun = true;
      await this.#start.onMessages([]);
      this.#ids = [this.#nextId()];
      await this.#start.onMessages(this.#ids);
    }
    this.#note(step);
    return text !== '';
  }
}
