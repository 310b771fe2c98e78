import type { MessageChange } from '../core/changes.ts';
import type { SessionKey } from '../core/place.ts';
import type { SectionSource } from '../core/section.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { SessionWork } from '../core/writes.ts';
import type { LoggedMessage } from './log/records.ts';
import type { WithheldRecord } from './withheld.ts';

/** A logged message that was edited or deleted. */
export interface WithdrawnMessage {
  /** Its place in the log. */
  readonly sequence: number;
  /**
   * As it was, with all that it said where an earlier edit could not be finished. An answer of the bot goes as a
   * whole.
   */
  readonly before: LoggedMessage;
  /** What it says now; `undefined` where it is gone. */
  readonly now: string | undefined;
}

/** What goes of one conversation: messages, and answers that repeat them. */
export interface Withdrawn {
  readonly kind: 'messages';
  readonly session: SessionKey;
  /** Those that the log has. */
  readonly messages: readonly WithdrawnMessage[];
  /** What happened to them, also to those that no log has. */
  readonly cause: MessageChange;
  /** The person had them forgotten, or they are too old: what else came from them stays [K4]. */
  readonly areItemsKept?: true | undefined;
  /** Which lines of notes say it is known: they go with the record. */
  readonly isResolved?: true | undefined;
}

/** A person had a matter erased [K11]: whatever says these words, as whole words, and was said until the command. */
export interface Purged {
  readonly kind: 'words';
  readonly userId: string;
  readonly words: string;
  /** A snowflake. */
  readonly commandId: string;
}

/** What a layer is to delete. */
export type Deletion =
  | Withdrawn
  /** Items and lines of notes that a person had forgotten; the messages go before. */
  | { readonly kind: 'record'; readonly userId: string; readonly record: WithheldRecord }
  | Purged
  /** Conversations of a person, with everything made of them. */
  | { readonly kind: 'conversations'; readonly userId: string; readonly sessions: readonly SessionKey[] }
  /** Everything of a person, with all their conversations. */
  | { readonly kind: 'person'; readonly userId: string; readonly sessions: readonly SessionKey[] };

/** A file of what is held about a person: its path in the archive, with `/`, and its text. */
export interface ExportedFile {
  readonly path: string;
  readonly text: string;
}

/**
 * One kind of memory [F5]. Layers know each other through this port, the changes and the log only. Methods reject
 * with `StoreError` where the store does; nobody retries but the caller. No method holds a write while a model is
 * called.
 */
export interface MemoryLayer extends SectionSource<TurnContext> {
  /** For a prompt; nothing that may not be used in `context.place` [V2]. */
  sections(context: TurnContext): ReturnType<SectionSource<TurnContext>['sections']>;
  /**
   * Folds what its cursor has not seen of these sessions of one user [F4]. Safe to repeat and to abort; runs outside
   * the user's write queue.
   */
  fold?(userId: string, sessions: readonly SessionWork[], signal: AbortSignal): Promise<void>;
  /** Where it holds something of messages that no log may have: the conversations in which their authors said them. */
  holdersOf?(change: MessageChange): Promise<readonly SessionKey[]>;
  /**
   * Takes it out of memory and off the disk, copies included. Safe to repeat: after a kill it comes again. Runs as a
   * job of the user's write queue [S3], the log's last.
   */
  delete(deletion: Deletion): Promise<void>;
  /** All that it holds of a person, in no order. */
  export(userId: string): AsyncIterable<ExportedFile>;
  /**
   * Another process has erased the person: drop their data from memory. Must not throw. Default: the layer keeps
   * nothing in memory.
   */
  evict?(userId: string): void;
}

/** Whose memory it is. */
export function personOf(deletion: Deletion): string {
  return 'userId' in deletion ? deletion.userId : deletion.session.userId;
}
