import { z } from 'zod';

import type { CommandButton } from '../core/reply.ts';
import { limits } from '../core/limits.ts';
import { createExpiringLog, expiringFields, type ExpiringLogPorts } from './expiring-log.ts';

const undoFile = 'undo.jsonl';

/** How long a change can be undone [K5]; milliseconds. */
export const undoForMs = 10 * 60_000;
/** The same for what background work took out of a notebook [A3]. */
const undoBackgroundForMs = 30 * 24 * 60 * 60_000;

export const messagesSchema = z
  .array(z.object({ channelId: z.string(), messageIds: z.array(z.string()).readonly() }))
  .readonly();

const cursorsSchema = z.array(z.object({ channelId: z.string(), cursor: z.number() }).readonly()).readonly();

const changeSchema = z.object({
  ...expiringFields,
  /** What was done, as the command that does it is called. */
  what: z.string(),
  /** What the layer needs that made the change; absent where messages alone changed, or it cannot be undone. */
  part: z.unknown().optional(),
  /** What was meant, where something was forgotten. */
  words: z.string().exactOptional(),
  /** Messages that were taken out of the person's conversations, and stand on disk till the change is final [K4]. */
  messages: messagesSchema.exactOptional(),
  /**
   * How far the person's conversations had been looked at for items, where what was said before is not noticed from
   * then on.
   */
  cursors: cursorsSchema.exactOptional(),
  /** It is being undone: a kill came between. */
  isUndoing: z.literal(true).exactOptional(),
  /** Background work made it [A3]: what its person is to be told; empty once they were. */
  background: z.string().exactOptional(),
});

/** A change of a person's memory that can be undone. */
export type UndoableChange = z.infer<typeof changeSchema>;

/** Sequence numbers of a person's message logs, by channel. */
export type Cursors = z.infer<typeof cursorsSchema>;

/** Messages of a person, by the channel of their conversation. */
export type MessagesByChannel = z.infer<typeof messagesSchema>;

type Noted = Pick<UndoableChange, 'part' | 'background'>;

/** Changes that a layer besides the items made. */
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
  /** Deletes for good what an expired change took. Rejects with `StoreError`, and is called again. */
  readonly onExpire: (change: UndoableChange) => Promise<void>;
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
export function createUndoLog({ onExpire, resume, ...ports }: UndoPorts) {
  const log = createExpiringLog(ports, {
    name: undoFile,
    schema: changeSchema,
    ttlMs: undoForMs,
    maxPerUser: limits.undoableChanges,
    onExpire: (change) => (change.isUndoing === true ? resume(change) : onExpire(change)),
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
      const { userId, part, messages = [], background } = change;
      if (part === undefined && messages.length === 0) return { result: await make() };
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
    /**
     * Changes cannot be undone any more, whatever they would bring back; the messages that they took go for good as
     * they expire, which is now.
     */
    finish: (userId: string, isMatch: (change: UndoableChange) => boolean = () => true): Promise<void> =>
      log.change(userId, (change) => {
        if (!isMatch(change)) return change;
        const { words: _, ...kept } = change;
        return change.messages && { ...kept, part: undefined, expiresAt: ports.clock().toISOString() };
      }),
    /** Whether a change that took all these messages can be undone still, or is being undone. */
    isUndoable: async (userId: string, messageIds: readonly string[]): Promise<boolean> => {
      const now = ports.clock().getTime();
      return (await log.all(userId)).some(({ isUndoing = false, expiresAt, messages = [] }) => {
        const taken = new Set(messages.flatMap((each) => each.messageIds));
        return (isUndoing || Date.parse(expiresAt) > now) && messageIds.every((id) => taken.has(id));
      });
    },
    /** A person's change with this id, or the newest, their own first; `undefined` where there is none, or it is final. */
    async find(userId: string, id?: string): Promise<UndoableChange | undefined> {
      const all = await log.list(userId);
      if (id !== undefined) return all.find((change) => change.id === id);
      return all.findLast(({ background }) => background === undefined) ?? all.at(-1);
    },
  };
}
