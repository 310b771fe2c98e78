import { z } from 'zod';

import { ModelError } from '../core/errors.ts';
import type { Logger } from '../core/logger.ts';
import type { CallBudget } from '../core/model.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import { localDate, nextDayAt, type Clock, type Timer } from '../core/time.ts';

export const spendingKey = 'spending.json';

const documentSchema = z.object({
  version: z.literal(1),
  /** Local, `YYYY-MM-DD`; of other days nothing is kept. */
  day: z.string(),
  /** US dollars, at least what was used or may yet be. */
  total: z.number(),
  /** The same by person. */
  people: z.record(z.string(), z.number()),
  /** The owner was told that most of it is used. */
  isTold: z.boolean(),
});

type SpendingDocument = z.infer<typeof documentSchema>;

export const spendingKind: DocumentKind<SpendingDocument> = { version: 1, schema: documentSchema };

/** Share of a limit by which the file is ahead of who has just had a call, or by one more such call: so few calls wait for a write. */
const aheadShare = 0.02;
/** Milliseconds after a call until the file is brought to what was really used. */
const settleAfterMs = 60_000;
/** Share of the daily limit at which the owner is told. */
const mostShare = 0.8;

/** What all or one person used: settled, and set aside; and what the file says. US dollars. */
interface Account {
  spent: number;
  reserved: number;
  onDisk: number;
  /** The newest call: what was set aside for it, and in which of the file's minutes. */
  newest: { readonly usd: number; readonly minute: number } | undefined;
}

interface Day {
  readonly day: string;
  readonly total: Account;
  readonly people: Map<string, Account>;
  isTold: boolean;
  /** People whose background work was refused. */
  readonly held: Set<string>;
}

/** How much of the day's limit is used, in US dollars. */
export interface DailyUse {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  readonly spent: number;
  readonly limit: number;
}

export interface SpendingOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly timer: Timer;
  /** IANA; days are local [N5]. */
  readonly timeZone: string;
  /** US dollars a day, of all calls and of one person's; without both nothing is counted. */
  readonly limits: {
    readonly dailyCost?: number | undefined;
    readonly dailyCostPerPerson?: number | undefined;
  };
  /** Tells the owner, once a day, that most of the limit is used; where it rejects, it is asked again after the next call. */
  readonly tellOwner: (use: DailyUse) => Promise<void>;
  readonly logger: Logger;
}

export interface Spending {
  /** `undefined` where calls may cost anything. */
  readonly budget: CallBudget | undefined;
  /** When background work of a person that was refused can be done, told once. */
  heldUntil(this: void, userId: string): Date | undefined;
  /** Takes away what is left of another day, or of limits that are no more. Never rejects. */
  start(): Promise<void>;
  /** Brings the file to what was really used. Never rejects. */
  flush(): Promise<void>;
  /** What is held of a person: what theirs cost today. It is a layer so that it is exported and erased with the others. */
  readonly layer: {
    readonly name: 'cost';
    sections(): Promise<readonly never[]>;
    follow(): Promise<void>;
    export(userId: string): AsyncIterable<{ readonly path: string; readonly text: string }>;
    erase(erasure: { readonly userId: string; readonly isWhole: boolean }): Promise<void>;
  };
}

/**
 * What model calls cost on the present day, and the limits on it [L2]. What a call can cost at most is set aside before it goes out, and the file,
 * `spending.json`, never says less than was used and set aside: so a kill makes the count too high at most, by what was set aside within a minute,
 * and for whoever had a call in it by one more or a fiftieth of the limit. While the disk refuses, the count goes on in memory.
 * For a process that has the store alone; for others there is `createSharedSpending`.
 */
export function createSpending(options: SpendingOptions): Spending {
  const { store, clock, timer, timeZone, limits, tellOwner, logger } = options;
  const { dailyCost, dailyCostPerPerson } = limits;
  const hasLimit = dailyCost !== undefined || dailyCostPerPerson !== undefined;
  let present: Day | undefined;
  let reading: { readonly day: string; readonly done: Promise<Day> } | undefined;
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  /** Somebody waits until the next write is safe on disk. */
  let cancelSettling: (() => void) | undefined;
  /** Counts how often the file was brought to what was really used. */
  let minute = 0;

  const today = (): string => localDate(clock(), timeZone);

  /** Rejects with `StoreError`. */
  function openDay(): Promise<Day> {
    const day = today();
    if (present?.day === day) return Promise.resolve(present);
    if (reading?.day === day) return reading.done;
    const done = readDay(day).then((read) => (present = read));
    reading = { day, done };
    done.catch(() => (reading = undefined));
    return done;
  }

  async function readDay(day: string): Promise<Day> {
    // What is being written may be of the day that is over.
    await writing;
    const stored = await store.read(spendingKey, spendingKind);
    const known = stored?.day === day ? stored : { total: 0, people: {}, isTold: false };
    return {
      day,
      total: accountOf(known.total),
      people: new Map(Object.entries(known.people).map(([id, usd]) => [id, accountOf(usd)])),
      isTold: known.isTold,
      held: new Set(),
    };
  }

  /** Writes what is used and set aside; those who ask while a write runs share the next. Never rejects. */
  function save(): Promise<void> {
    next ??= writing.then(() => {
      next = undefined;
      return write();
    });
    writing = next;
    return next;
  }

  async function write(): Promise<void> {
    const day = present;
    if (day === undefined) return;
    const marked = [
      { account: day.total, mark: markOf(day.total, dailyCost) },
      ...Array.from(day.people.values(), (account) => ({
        account,
        mark: markOf(account, dailyCostPerPerson),
      })),
    ];
    const [total, ...people] = marked.map(({ mark }) => mark);
    const document: SpendingDocument = {
      version: 1,
      day: day.day,
      total: total ?? 0,
      people: Object.fromEntries(Array.from(day.people.keys(), (id, index) => [id, people[index] ?? 0])),
      isTold: day.isTold,
    };
    // Until it is known which of both stands there, the lower one counts.
    for (const { account, mark } of marked) account.onDisk = Math.min(account.onDisk, mark);
    try {
      await store.update(spendingKey, spendingKind, () => document);
      for (const { account, mark } of marked) account.onDisk = mark;
    } catch (error) {
      logger.error('what model calls cost could not be saved; it is counted in memory', { error });
    }
  }

  /** What the file is to say of an account. */
  function markOf(account: Account, limit = 0): number {
    const { newest } = account;
    const ahead = newest?.minute === minute ? Math.max(limit * aheadShare, newest.usd) : 0;
    return usedOf(account) + ahead;
  }

  function settleLater(): void {
    cancelSettling ??= timer(() => {
      cancelSettling = undefined;
      minute += 1;
      void save();
    }, settleAfterMs);
  }

  function tellOfMost(day: Day): void {
    if (dailyCost === undefined || day.isTold || day !== present) return;
    day.isTold = true;
    const use = { day: day.day, spent: day.total.spent, limit: dailyCost };
    logger.warn('most of what model calls may cost today is used', { ...use });
    tellOwner(use).then(
      () => save(),
      (error: unknown) => {
        day.isTold = false;
        logger.warn('the owner could not be told what is used of the daily cost', { error });
      },
    );
  }

  const budget: CallBudget = {
    async reserve({ userId, purpose }, usd) {
      const day = await openDay().catch((error: unknown) => {
        throw new ModelError('What was used today cannot be read', 'unavailable', { cause: error });
      });
      const person = dailyCostPerPerson === undefined ? undefined : personIn(day, userId);
      const isOverTotal = dailyCost !== undefined && usedOf(day.total) + usd > dailyCost;
      const isOverOwn =
        person !== undefined && dailyCostPerPerson !== undefined && usedOf(person) + usd > dailyCostPerPerson;
      if (isOverTotal) tellOfMost(day);
      if (isOverTotal || isOverOwn) {
        if (purpose !== 'chat') day.held.add(userId);
        throw new ModelError('It might cost more than the limit of the day', 'over-limit');
      }
      const accounts = [day.total, ...(person === undefined ? [] : [person])];
      for (const account of accounts) {
        account.reserved += usd;
        account.newest = { usd, minute };
      }
      if (accounts.some((account) => usedOf(account) > account.onDisk)) await save();
      let isSettled = false;
      return {
        settle(actual = usd) {
          if (isSettled) return;
          isSettled = true;
          for (const account of accounts) {
            account.reserved -= usd;
            account.spent += actual;
          }
          settleLater();
          // So that the next call need not wait for it.
          if (accounts.some((account) => usedOf(account) + usd > account.onDisk)) void save();
          if (dailyCost !== undefined && day.total.spent >= dailyCost * mostShare) tellOfMost(day);
        },
      };
    },
  };

  return {
    budget: hasLimit ? budget : undefined,
    heldUntil(userId: string): Date | undefined {
      if (present?.held.delete(userId) !== true) return undefined;
      return present.day === today() ? nextDayAt(clock(), timeZone) : clock();
    },
    async start(): Promise<void> {
      try {
        const stored = await store.read(spendingKey, spendingKind);
        if (stored !== undefined && (!hasLimit || stored.day !== today())) await store.remove(spendingKey);
        else if (stored !== undefined && dailyCostPerPerson === undefined)
          await store.update(spendingKey, spendingKind, (found) => found && { ...found, people: {} });
      } catch (error) {
        logger.warn('what model calls cost on an earlier day could not be taken away', { error });
      }
    },
    async flush(): Promise<void> {
      cancelSettling?.();
      cancelSettling = undefined;
      minute += 1;
      const accounts = present === undefined ? [] : [present.total, ...present.people.values()];
      if (accounts.every((account) => usedOf(account) === account.onDisk)) return writing;
      await save();
    },
    layer: {
      name: 'cost' as const,
      sections: () => Promise.resolve([]),
      follow: () => Promise.resolve(),
      async *export(userId: string) {
        const stored = await store.read(spendingKey, spendingKind);
        const usd = stored?.people[userId];
        if (stored !== undefined && usd !== undefined)
          yield { path: 'cost.json', text: JSON.stringify({ day: stored.day, usd }, undefined, 2) };
      },
      async erase({ userId, isWhole }: { readonly userId: string; readonly isWhole: boolean }) {
        if (!isWhole) return;
        await reading?.done.catch(() => undefined);
        present?.people.delete(userId);
        const erasing = writing.then(() =>
          store.update(spendingKey, spendingKind, (stored) => stored && withoutPerson(stored, userId), {
            erase: true,
          }),
        );
        writing = erasing.then(
          () => undefined,
          () => undefined,
        );
        await erasing;
      },
    },
  };
}

function accountOf(usd: number): Account {
  return { spent: usd, reserved: 0, onDisk: usd, newest: undefined };
}

function usedOf({ spent, reserved }: Account): number {
  return spent + reserved;
}

function personIn({ people }: Day, userId: string): Account {
  const known = people.get(userId) ?? accountOf(0);
  people.set(userId, known);
  return known;
}

function withoutPerson(stored: SpendingDocument, userId: string): SpendingDocument {
  if (!(userId in stored.people)) return stored;
  const { [userId]: _, ...people } = stored.people;
  return { ...stored, people };
}
