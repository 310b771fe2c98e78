import QuickLRU from 'quick-lru';

const megabyte = 1024 * 1024;

/**
 * How much is kept of what people can make grow [L3]; docs/operating.md has the same table in words. What a person's files take together is bounded
 * besides, by `DISCOCLAW_PERSON_QUOTA_MB`.
 */
export const limits = {
  /** What each present item corrected, the newest [D6]. */
  formerItems: 10,
  /** Items of which a person's document knows, by hashes, that they were forgotten or made way, the newest. */
  goneItems: 500,
  /** Changes of a person that can be undone, the newest [K5]. */
  undoableChanges: 50,
  /** Proposals that wait for a person, the newest [K9]. */
  proposals: 50,
  /** Pauses of a person that are over, the newest; the oldest of more become one [K9]. */
  pastPauses: 20,
  /** Replaced summaries of a session, the newest. */
  replacedSummaries: 100,
  /** A folder of a notebook or of a session's notes; more is refused, since these are for people to tidy up. */
  noteFolder: { files: 200, bytes: 2 * megabyte },
  /** Daily logs of a notebook, the newest: a little over a year. */
  dailyLogs: 400,
  /** Notes of a channel or thread, the newest [B3]. */
  channelNotes: 200,
  /** Ids of handled and of hidden messages in a channel's journal, the newest: more than history or catch-up ever look back. */
  journalIds: 500,
  /** Answers of a conversation of which it is known what they were made from, the newest; there may be as many older ones on disk for a while [K7]. */
  answerSources: 50,
  /** Damaged files that are kept for a person to look at, the newest. */
  quarantine: { files: 100, bytes: 50 * megabyte, days: 90 },
} as const;

/** A cache of so many entries, and as many older ones for a while, that grows with them; `maxAge` is in milliseconds. */
export function growingCache<Key extends string | number, Value extends {}>(
  most: number,
  options: { readonly maxAge?: number } = {},
): QuickLRU<Key, Value> {
  return new QuickLRU({ ...options, maxSize: most });
}

/** The function, asked once an object that never changes. What it gave is kept for as long as the object is. */
export function oncePer<Key extends object, Value extends {}>(
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
/** People whose use is known at a time; the count of one that falls out starts at zero. */
const knownPeople = 10_000;

/** What a person may use of something in any sixty seconds [L1]. `now` is in milliseconds, from anywhere. */
export function createMinuteBudget(max: number, now: () => number) {
  const used = growingCache<string, readonly { readonly at: number; readonly amount: number }[]>(knownPeople);
  return {
    /** Whether so much more is within the budget; if so, it is used. */
    take(userId: string, amount: number): boolean {
      const at = now();
      const recent = (used.get(userId) ?? []).filter((each) => at - each.at < minuteMs);
      const sum = recent.reduce((total, each) => total + each.amount, amount);
      if (sum > max) return false;
      used.set(userId, [...recent, { at, amount }]);
      return true;
    },
    /** Milliseconds until so much more is within the budget: 0 where it is now, infinite where it never is. */
    waitMs(userId: string, amount: number): number {
      const at = now();
      const recent = (used.get(userId) ?? []).filter((each) => at - each.at < minuteMs);
      let sum = recent.reduce((total, each) => total + each.amount, amount);
      if (sum <= max) return 0;
      for (const each of recent) {
        sum -= each.amount;
        if (sum <= max) return each.at + minuteMs - at;
      }
      return Infinity;
    },
  };
}
