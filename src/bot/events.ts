import type { SessionKey } from '../core/place.ts';
import type { LateNotice } from '../core/tool.ts';
import type { UndoableChange } from '../memory/undo.ts';

export type Events = ReturnType<typeof createEvents>;

/** What one part of the bot tells the others, so that none needs to know what is made after it. */
export function createEvents() {
  return {
    /** Something of a session has changed: what was made of it is to be made again; where messages came back, its history too. */
    changed: createEvent<[session: SessionKey, hasMoreHistory?: true]>(),
    /** A session is to be looked at again at a time, in place of any time given before. */
    due: createEvent<[session: SessionKey, time: Date]>(),
    /** A person is erased: what runs and waits for them ends. */
    erased: createEvent<[userId: string, erasedBy: 'here' | 'elsewhere']>(),
    /** A person has paused everything, or one conversation. */
    paused: createEvent<[userId: string, channelId: string | undefined]>(),
    /** Something was stored of what people said. */
    stored: createEvent<[stored: readonly LateNotice[]]>(),
    /** A kill came between an undoing. */
    halfUndone: createEvent<[change: UndoableChange]>(),
  };
}

function createEvent<Told extends readonly unknown[]>() {
  const listeners: ((...told: Told) => unknown)[] = [];
  return {
    /** Listeners are called at once, in the order in which they came. */
    on: (listener: (...told: Told) => unknown): void => void listeners.push(listener),
    /** Settles when all listeners have done what they do; rejects as the first that does. */
    async emit(...told: Told): Promise<void> {
      await Promise.all(listeners.map((listener) => listener(...told)));
    },
  };
}
