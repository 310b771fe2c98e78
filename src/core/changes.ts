import { growingCache } from './limits.ts';
import type { Reach } from './visibility.ts';

/** An edit or deletion of messages, by whomever, wherever the bot can see it. */
export type MessageChange =
  | {
      readonly kind: 'edited';
      readonly channelId: string;
      readonly messageId: string;
      /** Absent where Discord does not tell. */
      readonly authorId?: string;
      readonly text: string;
      /** Of what was said in the channel when it was edited; absent where nobody has looked. */
      readonly reach?: Reach;
    }
  | { readonly kind: 'deleted'; readonly channelId: string; readonly messageIds: readonly string[] };

interface KnownChange {
  readonly text: string | undefined;
  readonly position: number;
  readonly authorId?: string;
}

/** Messages whose last change is remembered: more than can be on their way anywhere. */
const keptChanges = 5000;

/**
 * What became of messages lately: the one memory of it. Whatever arrives late asks here: a message that waited for its turn or was fetched after
 * a gap, an answer that is to be kept, words on their way into the log. The ledger notes each change here before it goes to the disk.
 */
export class RecentChanges {
  readonly #changes = growingCache<string, KnownChange>(keptChanges);
  readonly #listeners: ((change: MessageChange) => void)[] = [];
  #position = 0;

  /** How many changes were noted; what is noted from now on comes after it. */
  get position(): number {
    return this.#position;
  }

  /** From now on whoever asks knows of it. Those that hold words in memory only are told at once; they must not throw. */
  note(change: MessageChange): void {
    this.#position += 1;
    const ids = change.kind === 'edited' ? [change.messageId] : change.messageIds;
    const text = change.kind === 'edited' ? change.text : undefined;
    const author =
      change.kind === 'edited' && change.authorId !== undefined ? { authorId: change.authorId } : {};
    for (const id of ids) this.#changes.set(id, { text, position: this.#position, ...author });
    for (const listener of this.#listeners) listener(change);
  }

  /** The text that an edit left, `{ text: undefined }` after a deletion; `undefined` where nothing happened to the message, or not after `since`. */
  latest(messageId: string, since = 0): { readonly text: string | undefined } | undefined {
    const change = this.#changes.get(messageId);
    return change !== undefined && change.position > since ? change : undefined;
  }

  /** Whether a message reads otherwise by now, or is gone. */
  hasChanged({ id, text }: { readonly id: string; readonly text: string }): boolean {
    const change = this.#changes.get(id);
    return change !== undefined && change.text !== text;
  }

  wasDeleted(messageId: string): boolean {
    const change = this.#changes.get(messageId);
    return change !== undefined && change.text === undefined;
  }

  /** Lets go of what somebody's messages were edited to: to whoever asks, they are gone. Nobody is told. */
  dropTextsOf(authorId: string): void {
    const theirs = [...this.#changes].filter(([, change]) => change.authorId === authorId);
    for (const [id, change] of theirs) {
      // The cache may keep a former value for a while.
      this.#changes.delete(id);
      this.#changes.set(id, { ...change, text: undefined });
    }
  }

  /** Tells of every change as it is noted. */
  subscribe(listener: (change: MessageChange) => void): void {
    this.#listeners.push(listener);
  }
}
