import QuickLRU from 'quick-lru';

const megabyte = 1024 * 1024;

/** How much is kept of what people can make grow [L3]; docs/operating.md has the same table. */
export const limits = {
  /** Texts that an item corrected, the newest [D6]. */
  formerItems: 10,
  /** Hashes of a person's forgotten or evicted items, the newest. */
  goneItems: 500,
  /** Undoable changes of a person, the newest [K5]. */
  undoableChanges: 50,
  /** Waiting proposals of a person, the newest [K9]. */
  proposals: 50,
  /** Past pauses of a person, the newest; the oldest of more are merged [K9]. */
  pastPauses: 20,
  /** Replaced summaries of a session, the newest. */
  replacedSummaries: 100,
  /** A folder of a notebook or of a session's notes; more is refused, for people to tidy up. */
  noteFolder: { files: 200, bytes: 2 * megabyte },
  /** The newest: a little over a year. */
  dailyLogs: 400,
  /** Of a channel or thread, the newest [B3]. */
  channelNotes: 200,
  /** Handled and hidden messages in a channel's outbox, the newest: more than catch-up looks back. */
  outboxIds: 500,
  /** Answers of a conversation whose sources are known, the newest; on disk up to twice as many [K7]. */
  answerSources: 50,
  /** Answers to a person of which it is known how large their prompts were, the newest; in memory only [Y2a]. */
  answerSizes: { answers: 20, people: 1000 },
  /** What a turn's voice messages come to at most, and characters heard in them [G7]. */
  voice: { seconds: 600, bytes: 10 * megabyte, characters: 8000 },
  /** Damaged files kept for a person to look at, the newest. */
  quarantine: { files: 100, bytes: 50 * megabyte, days: 90 },
} as const;

/** A cache of so many entries, and for a while as many older ones; `maxAge` is in milliseconds. */
export function lruCache<Key extends string | number, Value extends {}>(
  most: number,
  options: { readonly maxAge?: number } = {},
): QuickLRU<Key, Value> {
  return new QuickLRU({ ...options, maxSize: most });
}

/** Memoises a function of immutable objects, weakly. */
export function memoizeByObject<Key extends object, Value extends {}>(
  make: (key: Key) => Value,
): (key: Key) => Value {
  const made = new WeakMap<Key, Value>();
  return (key) => {
    const known = made.get(key);
    if (known !== undefined) return known;
    const value = make(key);
    made.set(key, value);
    return value;
  };
}

const minuteMs = 60_000;
/** The count of a person who falls out starts at zero. */
const knownPeople = 10_000;

/** What a person may use in any sixty seconds [L1]; `now` is in milliseconds. */
export function createMinuteBudget(max: number, now: () => number) {
  const used = lruCache<string, readonly { readonly at: number; readonly amount: number }[]>(knownPeople);
  const recentOf = (userId: string, at: number) =>
    (used.get(userId) ?? []).filter((each) => at - each.at < minuteMs);

  /** Milliseconds until so much is within the budget: 0 for now, infinite for never. */
  function waitMs(userId: string, amount: number): number {
    const at = now();
    const recent = recentOf(userId, at);
    let sum = recent.reduce((total, each) => total + each.amount, amount);
    if (sum <= max) return 0;
    for (const each of recent) {
      sum -= each.amount;
      if (sum <= max) return each.at + minuteMs - at;
    }
    return Infinity;
  }

  return {
    waitMs,
    /** Uses so much if it is within the budget, and tells whether it was. */
    take(userId: string, amount: number): boolean {
      if (waitMs(userId, amount) > 0) return false;
      const at = now();
      used.set(userId, [...recentOf(userId, at), { at, amount }]);
      return true;
    },
  };
}
