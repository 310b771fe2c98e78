import { LRUCache } from 'lru-cache';

const megabyte = 1024 * 1024;

/** How much is kept of what people can make grow [L3]; docs/operating.md has the same table. */
export const limits = {
  /** Texts that an item corrected, the newest [D6]. */
  itemHistory: 10,
  /** Hashes of a person's forgotten or evicted items, the newest. */
  goneItems: 500,
  /** Undoable changes of a person, the newest [K5]. */
  undoableChanges: 50,
  /** What a note said before changes that can be undone, the newest [K5]. */
  formerNotes: 20,
  /** Waiting proposals of a person, the newest [K9]. */
  proposals: 20,
  /** Reminders of a person; more are refused [RM7]. */
  reminders: 50,
  /** Past pauses of a person, the newest; the oldest of more are merged [K9]. */
  pastPauses: 20,
  /** Replaced summaries of a session, the newest. */
  replacedSummaries: 100,
  /** A folder of a notebook or of a session's notes; more is refused, for people to tidy up. */
  noteFolder: { files: 200, bytes: 2 * megabyte },
  /** Lines of a note that one look back may replace or drop, or this share of its words, whichever is more [A3]. */
  backgroundLoss: { lines: 5, share: 0.1 },
  /** The newest: a little over a year. */
  dailyLogs: 400,
  /** Handled and hidden messages in a channel's outbox, the newest: more than catch-up looks back. */
  outboxIds: 500,
  /** Deleted channels of which all is erased, the newest. */
  gonePlaces: 1000,
  /** People who asked to be let in, or were not: the newest. */
  accessRequests: 1000,
  /** Answers of a conversation whose sources are known, the newest; on disk up to twice as many [K7]. */
  answerSources: 50,
  /** Answers to a person of which it is known how large their prompts were, the newest; in memory only [Y2a]. */
  answerSizes: { answers: 20, people: 1000 },
  /** Ids of messages of which it is known, in memory, who has them in their log [L4]. */
  knownMessages: 100_000,
  /** What a turn's voice messages come to at most, and characters heard in them [G7]. */
  voice: { seconds: 600, bytes: 10 * megabyte, characters: 8000 },
  /** How long damaged files are kept for a person to look at. */
  quarantine: { days: 30 },
} as const;

/**
 * A cache of the entries used last, so many; `maxAge` is in milliseconds. Newest first; it is copied before a loop that
 * changes it, since what is set moves to the front.
 */
export function lruCache<Key extends string | number, Value extends {}>(
  most: number,
  { maxAge }: { readonly maxAge?: number } = {},
): LRUCache<Key, Value> {
  const ttl = maxAge === undefined ? {} : { ttl: maxAge, ttlResolution: 0, perf: { now: () => Date.now() } };
  // With `max` it would set room aside for all of them at once, at each start.
  return new LRUCache({ maxSize: most, sizeCalculation: () => 1, ...ttl });
}

const minuteMs = 60_000;
/** The count of a person who falls out starts at zero. */
const knownPeople = 10_000;

/** What a person may use in any sixty seconds [L1]; `now` is in milliseconds. */
export function createMinuteBudget(max: number, now: () => number) {
  const used = lruCache<string, readonly { readonly at: number; readonly amount: number }[]>(knownPeople);
  const recentOf = (userId: string) => (used.get(userId) ?? []).filter(({ at }) => now() - at < minuteMs);

  return {
    /** Uses so much if it is within the budget, and tells whether it was. */
    take(userId: string, amount: number): boolean {
      const recent = recentOf(userId);
      if (recent.reduce((sum, each) => sum + each.amount, amount) > max) return false;
      used.set(userId, [...recent, { at: now(), amount }]);
      return true;
    },
    /** Milliseconds until what was used first counts no more. */
    waitMs(userId: string): number {
      const [first] = recentOf(userId);
      return first === undefined ? 0 : first.at + minuteMs - now();
    },
  };
}
