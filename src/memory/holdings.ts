import { saysWords } from '../core/text.ts';
import type { DurableMemory } from './durable/durable-memory.ts';
import type { MemoryLayer } from './layer.ts';
import type { SessionLog } from './log/session-log.ts';
import type { SessionStates } from './log/session-state.ts';

/** What keeps notes on a person. */
export type NoteHolder = Pick<MemoryLayer, 'export'>;

/** How much is held about a person. */
export interface Holdings {
  readonly items: number;
  /** Answers to them counted. */
  readonly messages: number;
  /** Files: notes on conversations, replaced summaries, and the notebook. */
  readonly notes: number;
  readonly servers: number;
}

/** Counts what is held about a person, for them to decide on [K11]. Reads all their logs; rejects with `StoreError`. */
export async function countHoldings(
  userId: string,
  memory: {
    readonly durable: Pick<DurableMemory, 'list'>;
    readonly sessionLog: Pick<SessionLog, 'sessionsOfPerson' | 'since'>;
    readonly states: Pick<SessionStates, 'read'>;
    /** The layers that keep notes. */
    readonly noted: readonly NoteHolder[];
  },
): Promise<Holdings> {
  let messages = 0;
  const servers = new Set<string>();
  for (const session of await memory.sessionLog.sessionsOfPerson(userId)) {
    messages += (await memory.sessionLog.since(session, 0)).messages.length;
    const { place } = await memory.states.read(session);
    if (place?.guildId !== undefined) servers.add(place.guildId);
  }
  let notes = 0;
  for (const layer of memory.noted) for await (const _ of layer.export(userId)) notes += 1;
  return { items: (await memory.durable.list(userId)).length, messages, notes, servers: servers.size };
}

/**
 * Counts what says some words [K11]: items with corrected ones, messages without those answers that go with them, notes
 * with summaries and the list of reminders. Reads all their logs; rejects with `StoreError`.
 */
export async function countSaying(
  userId: string,
  words: string,
  memory: {
    readonly durable: Pick<DurableMemory, 'list' | 'historiesOf'>;
    readonly sessionLog: Pick<SessionLog, 'mentions'>;
    readonly rolling: NoteHolder;
    readonly reminders: { readonly layer: NoteHolder };
    /** Those that `purge` can take. */
    readonly notes: NoteHolder;
  },
): Promise<Omit<Holdings, 'servers'>> {
  const { durable, sessionLog, rolling, notes, reminders } = memory;
  const history = [...(await durable.historiesOf(userId)).values()].flat();
  const items = [...(await durable.list(userId)), ...history].filter(({ text }) => saysWords(text, words));
  const found = await sessionLog.mentions(userId, words, () => true);
  const messages = found.reduce((sum, { messageIds }) => sum + messageIds.length, 0);
  return {
    items: items.length,
    messages,
    notes: await countNotesSaying(userId, words, [rolling, notes, reminders.layer]),
  };
}

/** Counts the notes in some layers that say some words. Rejects with `StoreError`. */
export async function countNotesSaying(
  userId: string,
  words: string,
  noted: readonly NoteHolder[],
): Promise<number> {
  let notes = 0;
  for (const layer of noted)
    for await (const { text } of layer.export(userId)) if (saysWords(text, words)) notes += 1;
  return notes;
}
