import { z } from 'zod';

import type { MessageChange } from '../core/changes.ts';
import type { SessionKey } from '../core/place.ts';
import type { SectionSource } from '../core/section.ts';
import type { TurnContext } from '../core/turn-context.ts';
import type { SessionWork } from '../core/writes.ts';
import type { LoggedMessage } from './log/records.ts';
import type { WithheldRecord } from './withheld.ts';

/** What a person had forgotten cannot be undone any more. Its messages go as `Withdrawn`, before. */
export interface Forgotten {
  readonly kind: 'forgotten';
  readonly userId: string;
  readonly record: WithheldRecord;
}

export const purgedSchema = z.object({
  kind: z.literal('purged'),
  userId: z.string(),
  words: z.string(),
  /** The snowflake of who said so, and when. */
  commandId: z.string(),
});

/**
 * A person had a matter erased [K11]: whatever says these words, as whole words, and was said until then. Messages
 * that do go as `Withdrawn`, before.
 */
export type Purged = Readonly<z.infer<typeof purgedSchema>>;

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

/** What an edit or deletion takes out of one conversation: the messages themselves, and answers that repeat them. */
export interface Withdrawn {
  readonly kind: 'withdrawn';
  readonly session: SessionKey;
  /** Those that the log has. */
  readonly messages: readonly WithdrawnMessage[];
  /** What happened to them, also to those that no log has. */
  readonly cause: MessageChange;
  /** The person had them forgotten: on Discord they stand as before, and what else came from them stays [K4]. */
  readonly isForgetting?: true | undefined;
  /** Which lines of notes say it is known: they go as `Forgotten`. */
  readonly isResolved?: true | undefined;
}

/** A change as layers follow it: what it means for one person. */
export type LayerChange = Withdrawn | Forgotten | Purged;

/** A file of what is held about a person: its path in the archive, with `/`, and its text. */
export interface ExportedFile {
  readonly path: string;
  readonly text: string;
}

/** What is to be erased of one person. */
export interface Erasure {
  readonly userId: string;
  /** The conversations that go, with everything made of them. */
  readonly sessions: readonly SessionKey[];
  /** Everything of the person goes, and not only what comes from these conversations. */
  readonly isWhole: boolean;
}

/**
 * How far a change has come. `hide`: what it takes away is used nowhere any more.
 * `delete`: nor does it stand on disk; not before every layer has hidden it, so that the words can be looked up in
 * the log until then.
 */
export type ChangeStage = 'hide' | 'delete';

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
   * Follows a change that the ledger has on disk. Safe to repeat: after a kill it comes again. Runs as a job of the
   * user's write queue [S3].
   */
  follow(change: LayerChange, stage: ChangeStage): Promise<void>;
  /** All that it holds of a person, in no order. */
  export(userId: string): AsyncIterable<ExportedFile>;
  /**
   * Takes it out of memory and off the disk, copies included; safe to repeat. Runs as a job of the user's write
   * queue [S3].
   */
  erase(erasure: Erasure): Promise<void>;
  /**
   * Another process has erased the person: drop their data from memory. Must not throw. Default: the layer keeps
   * nothing in memory.
   */
  evict?(userId: string): void;
}

/** Whose memory a change is about. */
export function personOf(change: LayerChange): string {
  return 'userId' in change ? change.userId : change.session.userId;
}
