import { LRUCache } from 'lru-cache';

/** More than come in the time that is caught up with after a gap, in most servers. */
const most = 5000;

/**
 * Messages that were not for the bot when they came [G2]. After a gap they are fetched again, when other settings may hold: what was ignored
 * stays ignored.
 */
export interface IgnoredMessages {
  note(messageId: string): void;
  has(messageId: string): boolean;
  /** In no order. */
  ids(): readonly string[];
}

/** `earlier`: what a process before this one ignored. */
export function createIgnoredMessages(earlier: readonly string[]): IgnoredMessages {
  const known = new LRUCache<string, true>({ max: most });
  for (const id of earlier) known.set(id, true);
  return {
    note: (messageId) => known.set(messageId, true),
    has: (messageId) => known.has(messageId),
    ids: () => [...known.keys()],
  };
}
