import { z } from 'zod';

import type { CommandButton } from '../core/reply.ts';
import { limits } from '../core/limits.ts';
import { createExpiringLog, expiringFields, type ExpiringLogPorts } from './expiring-log.ts';

export const undoFile = 'undo.jsonl';

/** How long a change can be undone [K5]; milliseconds. */
export const undoForMs = 10 * 60_000;
/** The same for what background work took out of a notebook [A3]. */
const undoBackgroundForMs = 30 * 24 * 60 * 60_000;

const changeSchema = z.object({
  ...expiringFields,
  /** What was done, as the command that does it is called. */
  what: z.string(),
  /** What the layer needs that made the change. */
  part: z.unknown().optional(),
  /** It is being undone: a kill came between. */
  isUndoing: z.literal(true).exactOptional(),
  /** Background work made it [A3]: what its person is to be told; empty once they were. */
  background: z.string().exactOptional(),
});

/** A change of a person's memory that can be undone. */
export type UndoableChange = z.infer<typeof changeSchema>;

/** Messages of a person, by the channel of their conversation. */
export type MessagesByChannel = readonly {
  readonly channelId: string;
  readonly messageIds: readonly string[];
}[];

type Noted = Pick<UndoableChange, 'userId' | 'part' | 'background'>;

/** Changes besides those of items. */
export interface UndoablePart {
  /**
   * The state of a change: as it was left, already reverted, or changed again since; `undefined` for another
   * layer's. Rejects with `StoreError`.
   */
  readonly stateOf: (change: Noted) => Promise<'made' | 'reverted' | 'overtaken' | undefined>;
  /** Takes one back that is as it was left; safe to repeat. Rejects with `StoreError`. */
  readonly revert: (change: Noted) => Promise<void>;
}

/** The change that was made can be undone for ten minutes [K5]. */
export function undoButton(undoId: string | undefined): readonly CommandButton[] {
  return undoId === undefined ? [] : [{ label: 'Undo', line: `memory undo ${undoId}`, takes: 'itself' }];
}

export interface UndoPorts extends ExpiringLogPorts {
  /**
   * Finishes undoing that an error or a kill interrupted, however old the change is. Rejects with `StoreError`, and
   * is called again.
   */
  readonly resume: (change: UndoableChange) => Promise<void>;
}

export type UndoLog = ReturnType<typeof createUndoLog>;

/**
 * What undo needs to know of a person's changes, for ten minutes [K5]: `users/<userId>/undo.jsonl`. A change is
 * noted before it is made, so each change has its note; a note without its change goes with the next undo. Final
 * changes leave the file with their words [S7].
 */
export function createUndoLog({ resume, ...ports }: UndoPorts) {
  const log = createExpiringLog(ports, {
    name: undoFile,
    schema: changeSchema,
    ttlMs: undoForMs,
    maxPerUser: limits.undoableChanges,
    onExpire: async (change) => (change.isUndoing === true ? resume(change) : undefined),
  });
  return {
    ...log,
    /**
     * Notes how a change is undone, then makes it. Resolves with the id to undo it by, which is absent where it
     * changes nothing.
     */
    async noting<T>(
      change: Omit<UndoableChange, 'id' | 'expiresAt'>,
      make: () => Promise<T>,
    ): Promise<{ readonly result: T; readonly undoId?: string | undefined }> {
      const { userId, part, background } = change;
      if (part === undefined) return { result: await make() };
      const { id: undoId } = await log.add(
        change,
        background === undefined ? undoForMs : undoBackgroundForMs,
      );
      try {
        return { result: await make(), undoId };
      } catch (error) {
        await log.delete(userId, ({ id }) => id === undoId).catch(() => undefined);
        throw error;
      }
    },
    /** Once this has resolved, the change will be undone, even if a kill comes between. */
    begin: (change: UndoableChange): Promise<void> =>
      log.replace({ ...change, isUndoing: true, expiresAt: ports.clock().toISOString() }),
    /** A person's change with this id, or the newest, their own first; `undefined` where there is none, or it is final. */
    async find(userId: string, id?: string): Promise<UndoableChange | undefined> {
      const all = await log.list(userId);
      if (id !== undefined) return all.find((change) => change.id === id);
      return all.findLast(({ background }) => background === undefined) ?? all.at(-1);
    },
  };
}
