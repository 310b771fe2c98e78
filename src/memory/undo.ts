import { z } from 'zod';

import type { CommandButton } from '../core/chat.ts';
import { limits } from '../core/limits.ts';
import { createLapsingLog, lapsingFields, type LapsingLogPorts } from './lapsing-log.ts';

export const undoFile = 'undo.jsonl';

/** How long a change can be undone [K5]; milliseconds. */
export const undoForMs = 10 * 60_000;

export const messagesSchema = z
  .array(z.object({ channelId: z.string(), messageIds: z.array(z.string()).readonly() }))
  .readonly();

const cursorsSchema = z.array(z.object({ channelId: z.string(), cursor: z.number() }).readonly()).readonly();

const changeSchema = z.object({
  ...lapsingFields,
  /** What was done, as the command that does it is called. */
  what: z.string(),
  /** What the layer needs that made the change. */
  part: z.unknown(),
  /** What was meant, where something was forgotten. */
  words: z.string().exactOptional(),
  /** Messages that were taken out of the person's conversations, and stand on disk till the change is final [K4]. */
  messages: messagesSchema.exactOptional(),
  /** How far the person's conversations had been looked at for items, where what was said before is not noticed from then on. */
  cursors: cursorsSchema.exactOptional(),
  /** It is being undone: a kill came between. */
  isUndoing: z.literal(true).exactOptional(),
});

/** A change of a person's memory that can be undone. */
export type UndoableChange = z.infer<typeof changeSchema>;

/** Sequence numbers of a person's message logs, by channel. */
export type Cursors = z.infer<typeof cursorsSchema>;

/** Messages of a person, by the channel of their conversation. */
export type MessagesByChannel = z.infer<typeof messagesSchema>;

/** Changes that a layer besides the items made. */
export interface UndoablePart {
  /** What became of one: it still is as it was left, it was taken back already, or something of it was changed since; `undefined` where it is none of this layer's. Rejects with `StoreError`. */
  readonly stateOf: (part: unknown) => Promise<'made' | 'reverted' | 'overtaken' | undefined>;
  /** Takes one back that is as it was left; safe to repeat. Rejects with `StoreError`. */
  readonly revert: (part: unknown) => Promise<void>;
}

/** The change that was made can be undone for ten minutes [K5]. */
export function undoButton(undoId: string | undefined): readonly CommandButton[] {
  return undoId === undefined ? [] : [{ label: 'Undo', line: `memory undo ${undoId}`, takes: 'itself' }];
}

export interface UndoPorts extends LapsingLogPorts {
  /** It can be undone no more: what it took is erased. Rejects with `StoreError`, and is asked again. */
  readonly finalise: (change: UndoableChange) => Promise<void>;
  /** An earlier process was killed, maybe while it made the change or undid it: what it left is settled, however old it is by now. Rejects likewise. */
  readonly resume: (change: UndoableChange) => Promise<void>;
}

export type UndoLog = ReturnType<typeof createUndoLog>;

/**
 * What undo needs of a person's changes, for ten minutes [K5]: `users/<userId>/undo.jsonl`. A change is noted before it is made, so whoever
 * finds the change finds its note; a note of what was never made goes with the next undoing. What became final leaves the file, and with it the words that were taken [S7].
 */
export function createUndoLog({ finalise, resume, ...ports }: UndoPorts) {
  const log = createLapsingLog(ports, {
    name: undoFile,
    schema: changeSchema,
    lastsMs: undoForMs,
    maxPerUser: limits.undoableChanges,
    finalise: (change) => (change.isUndoing === true ? resume(change) : finalise(change)),
    isDueAtOnce: ({ isUndoing }) => isUndoing === true,
  });
  return {
    ...log,
    /** Notes a change that is about to be made; resolves with its id. */
    note: async (change: Omit<UndoableChange, 'id' | 'at'>): Promise<string> => (await log.note(change)).id,
    /** It is about to be undone in more than one step; once this has resolved, it will be. */
    begin: (change: UndoableChange): Promise<void> => log.replace({ ...change, isUndoing: true }),
    /** The change is undone otherwise from now on. */
    replace: (change: UndoableChange): Promise<void> => log.replace(change),
    /** A person's change with this id, or their newest one; `undefined` where there is none, or it is final. */
    async find(userId: string, id?: string): Promise<UndoableChange | undefined> {
      const own = await log.list(userId);
      return id === undefined ? own.at(-1) : own.find((change) => change.id === id);
    },
  };
}
