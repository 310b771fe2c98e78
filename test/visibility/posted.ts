import type { ChatMessage } from '../../src/core/message.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';

const botId = '130000000000000001';

/** What stands in a scene's channels, and the time in it. */
export class Posted {
  readonly #messages = new Map<string, readonly ChatMessage[]>();
  #now: number;

  /** The time begins at so many milliseconds since the epoch. */
  constructor(beginsAt = Date.UTC(2026, 0, 15, 10)) {
    this.#now = beginsAt;
  }

  get now(): Date {
    return new Date(this.#now);
  }

  wait(minutes: number): void {
    this.#now += minutes * 60_000;
  }

  /** Time goes on with every id, so later ones are greater. */
  nextId(): string {
    this.#now += 1000;
    return snowflakeAt(this.now);
  }

  /** A channel's messages, oldest first. */
  in(channelId: string): readonly ChatMessage[] {
    return this.#messages.get(channelId) ?? [];
  }

  add(
    channelId: string,
    author: ChatMessage['author'],
    text: string,
    more: Partial<ChatMessage> = {},
  ): ChatMessage {
    const id = this.nextId();
    const message = { id, channelId, author, text, at: this.now.toISOString(), attachments: [], ...more };
    this.#messages.set(channelId, [...this.in(channelId), message]);
    return message;
  }

  /** What the bot says. */
  addOwn(channelId: string, text: string, more: Partial<ChatMessage> = {}): ChatMessage {
    return this.add(channelId, { id: botId, name: 'Discoclaw', kind: 'self' }, text, more);
  }
}
