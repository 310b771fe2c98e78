import type { ChatMessage } from '../core/chat.ts';
import { compareSnowflakes } from '../core/snowflake.ts';

/** Messages kept of a channel: three of history's longest windows [H1]. */
const keptMessages = 60;

/** What happened to messages while a fetch was under way, whose answer may not show it yet. */
interface Changes {
  readonly edits: Map<string, string>;
  readonly removed: Set<string>;
}

/** The newest messages of one channel. It is cold until they were fetched once; from then on events keep it current. */
export class WarmChannel {
  readonly #messages = new Map<string, ChatMessage>();
  #isWarm = false;
  #loading: { readonly done: Promise<void>; readonly changes: Changes } | undefined;

  /** Oldest first. */
  messages(): readonly ChatMessage[] {
    return [...this.#messages.values()].toSorted((a, b) => compareSnowflakes(a.id, b.id));
  }

  messageOf(messageId: string): ChatMessage | undefined {
    return this.#messages.get(messageId);
  }

  /** Told again, nothing changes. */
  add(message: ChatMessage): void {
    if (this.#messages.has(message.id)) return;
    this.#messages.set(message.id, message);
    if (this.#messages.size <= keptMessages) return;
    const oldest = this.messages()[0];
    if (oldest !== undefined) this.#messages.delete(oldest.id);
  }

  edit(messageId: string, text: string): void {
    this.#loading?.changes.edits.set(messageId, text);
    const message = this.#messages.get(messageId);
    if (message !== undefined) this.#messages.set(messageId, { ...message, text });
  }

  remove(messageIds: readonly string[]): void {
    for (const id of messageIds) {
      this.#loading?.changes.removed.add(id);
      this.#messages.delete(id);
    }
  }

  /** Takes in the newest messages, once; several callers share one fetch. Rejects as the fetch does, and stays cold then. */
  warm(fetchNewest: () => Promise<readonly ChatMessage[]>): Promise<void> {
    if (this.#isWarm) return Promise.resolve();
    if (this.#loading !== undefined) return this.#loading.done;
    const changes: Changes = { edits: new Map(), removed: new Set() };
    const done = this.#load(fetchNewest, changes).finally(() => {
      this.#loading = undefined;
    });
    this.#loading = { done, changes };
    return done;
  }

  async #load(
    fetchNewest: () => Promise<readonly ChatMessage[]>,
    { edits, removed }: Changes,
  ): Promise<void> {
    for (const message of await fetchNewest()) {
      if (removed.has(message.id)) continue;
      this.add({ ...message, text: edits.get(message.id) ?? message.text });
    }
    this.#isWarm = true;
  }
}
