import { z } from 'zod';

import { lruCache } from './limits.ts';
import { reachFields } from './visibility.ts';

export const messageChangeSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('edited'),
    channelId: z.string(),
    messageId: z.string(),
    /** Absent where Discord does not tell. */
    authorId: z.string().optional(),
    text: z.string(),
    /** ISO 8601, UTC; absent where nobody tells. */
    editedAt: z.string().optional(),
    /** Of the channel at the time of the edit; absent where nobody has looked. */
    reach: z.object(reachFields).readonly().optional(),
  }),
  z.object({
    kind: z.literal('deleted'),
    channelId: z.string(),
    messageIds: z.array(z.string()).readonly(),
    /** Of one that is only gone from what is logged: a command that it was edited into. */
    text: z.string().optional(),
  }),
]);
export type MessageChange = Readonly<z.infer<typeof messageChangeSchema>>;

export function messageIdsOf(change: MessageChange): readonly string[] {
  return change.kind === 'edited' ? [change.messageId] : change.messageIds;
}

interface KnownChange {
  readonly text: string | undefined;
  readonly editedAt?: string | undefined;
  readonly position: number;
  readonly authorId: string | undefined;
}

/** More than can be on their way anywhere. */
const keptChanges = 5000;

/** The one memory of recent edits and deletions; what arrives late, such as a queued message, asks here. */
export class RecentChanges {
  readonly #changes = lruCache<string, KnownChange>(keptChanges);
  readonly #listeners: ((change: MessageChange) => void)[] = [];
  #position = 0;

  get position(): number {
    return this.#position;
  }

  /** Tells subscribers at once; they must not throw. */
  note(change: MessageChange): void {
    this.#position += 1;
    const { messageIds, text, editedAt, authorId } =
      change.kind === 'edited'
        ? { ...change, messageIds: [change.messageId] }
        : { ...change, text: undefined, editedAt: undefined, authorId: undefined };
    for (const id of messageIds)
      this.#changes.set(id, { text, editedAt, position: this.#position, authorId });
    for (const listener of this.#listeners) listener(change);
  }

  /** The text that an edit left, `{ text: undefined }` after a deletion; `undefined` for nothing since `since`. */
  latest(messageId: string, since = 0): Pick<KnownChange, 'text' | 'editedAt'> | undefined {
    const change = this.#changes.get(messageId);
    return change !== undefined && change.position > since ? change : undefined;
  }

  /** Whether a message was edited to something else, or deleted. */
  hasChanged({ id, text }: { readonly id: string; readonly text: string }): boolean {
    const change = this.#changes.get(id);
    return change !== undefined && change.text !== text;
  }

  wasDeleted(messageId: string): boolean {
    const change = this.#changes.get(messageId);
    return change !== undefined && change.text === undefined;
  }

  /** Forgets what somebody's messages were edited to; they then count as deleted. Nobody is told. */
  dropTextsOf(authorId: string): void {
    const theirs = [...this.#changes].filter(([, change]) => change.authorId === authorId);
    for (const [id, change] of theirs) this.#changes.set(id, { ...change, text: undefined });
  }

  subscribe(listener: (change: MessageChange) => void): void {
    this.#listeners.push(listener);
  }
}
