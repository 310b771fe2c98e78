import type { SessionKey } from '../core/place.ts';
import type { LateNotice } from '../core/tool.ts';
import type { UndoableChange } from '../memory/undo.ts';

export type Events = ReturnType<typeof createEvents>;

/** Events between the parts of the bot, so that no part needs another that is created after it. */
export function createEvents() {
  return {
    /** What was derived from the session is out of date; where messages came back, its history too. */
    changed: createEvent<[session: SessionKey, hasMoreHistory?: true]>(),
    /** When to look at a session again; replaces an earlier time. */
    due: createEvent<[session: SessionKey, time: Date]>(),
    /** A person was erased: their running and waiting work ends. */
    erased: createEvent<[userId: string, erasedBy: 'here' | 'elsewhere']>(),
    /** A person paused one conversation, or everything. */
    paused: createEvent<[userId: string, channelId: string | undefined]>(),
    stored: createEvent<[stored: readonly LateNotice[]]>(),
    /** A kill interrupted an undo. */
    halfUndone: createEvent<[change: UndoableChange]>(),
  };
}

function createEvent<Told extends readonly unknown[]>() {
  const listeners: ((...told: Told) => unknown)[] = [];
  return {
    /** Listeners are called synchronously, in order of registration. */
    on: (listener: (...told: Told) => unknown): void => void listeners.push(listener),
    /** Resolves when all listeners are done; rejects with the first failure. */
    async emit(...told: Told): Promise<void> {
      await Promise.all(listeners.map((listener) => listener(...told)));
    },
  };
}
