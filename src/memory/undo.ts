import type { CommandButton } from '../core/reply.ts';

/** How long a change can be undone [K5]; milliseconds. */
export const undoForMs = 10 * 60_000;

/** Messages of a person, by the channel of their conversation. */
export type MessagesByChannel = readonly {
  readonly channelId: string;
  readonly messageIds: readonly string[];
}[];

/** A change of a person's memory that can be undone. */
export interface UndoableChange {
  readonly id: string;
  /** What was done, as the command that does it is called. */
  readonly what: string;
  /** ISO 8601. */
  readonly at: string;
  /** Background work made it [A3]. */
  readonly isBackground?: boolean;
}

/** Changes that a layer besides the items made. Both reject with `StoreError`. */
export interface UndoablePart {
  /** Those of a person that can be undone, oldest first. */
  readonly list: (userId: string) => Promise<readonly UndoableChange[]>;
  /**
   * Takes one back, as part of a job of the person's queue; safe to repeat. Resolves with `false`, and nothing is
   * done, where something of it was changed since.
   */
  readonly undo: (userId: string, id: string) => Promise<boolean>;
}

/** The change that was made can be undone for ten minutes [K5]. */
export function undoButton(undoId: string | undefined): readonly CommandButton[] {
  return undoId === undefined ? [] : [{ label: 'Undo', line: `memory undo ${undoId}`, takes: 'itself' }];
}
