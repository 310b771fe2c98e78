import { z } from 'zod';

import { ModelError } from '../core/errors.ts';
import { isSnowflake } from '../core/snowflake.ts';
import type { DocumentKind } from '../core/store.ts';
import { localDate, nextDayAt } from '../core/time.ts';
import { spendingKey, spendingKind, type Spending, type SpendingOptions } from './spending.ts';

const ownSchema = z.object({
  version: z.literal(1),
  /** Local, `YYYY-MM-DD`. */
  day: z.string(),
  /** US dollars. */
  usd: z.number(),
});

export const ownSpendingKind: DocumentKind<z.infer<typeof ownSchema>> = { version: 1, schema: ownSchema };

/** Share of the daily limit at which the owner is told. */
const mostShare = 0.8;

/** How a sum of the day changes; `undefined` where it would be over its limit, and so does not. What is given back is so only where the sum is still that of its day. */
interface Change {
  readonly isBack: boolean;
  readonly of: (usd: number) => number | undefined;
}

/**
 * The limits on what model calls cost [L2], where several processes share the store: what a call can cost at most is added to the store's sums before it goes out, and
 * what it did not cost taken off again; of each person in their own folder. A kill leaves the sums too high by the calls that were open.
 */
export function createSharedSpending(options: SpendingOptions): Spending {
  const { store, clock, timeZone, limits, tellOwner, logger } = options;
  const { dailyCost, dailyCostPerPerson } = limits;
  const settling = new Set<Promise<void>>();
  /** People whose background work was refused, and on which day. */
  const held = new Map<string, string>();
  const today = (): string => localDate(clock(), timeZone);

  /** Resolves with the new sum, `undefined` where it did not change. Rejects with `StoreError`. */
  async function addToTotal(day: string, change: Change): Promise<number | undefined> {
    let made: number | undefined;
    await store.update(spendingKey, spendingKind, (stored) => {
      const known = present(stored, day) ?? { day, total: 0, isTold: false };
      made = isOver(stored, day, change) ? undefined : change.of(known.total);
      return made === undefined
        ? stored
        : { version: 1 as const, day: known.day, people: {}, isTold: known.isTold, total: made };
    });
    return made;
  }

  async function addToOwn(userId: string, day: string, change: Change): Promise<number | undefined> {
    let made: number | undefined;
    await store.update(ownKey(userId), ownSpendingKind, (stored) => {
      const known = present(stored, day) ?? { day, usd: 0 };
      made = isOver(stored, day, change) ? undefined : change.of(known.usd);
      return made === undefined ? stored : { version: 1 as const, day: known.day, usd: made };
    });
    return made;
  }

  /** Whoever of the processes notes it first, tells the owner. Never rejects. */
  async function tellOfMost(day: string, limit: number): Promise<void> {
    let spent: number | undefined;
    const note = (isTold: boolean) =>
      store.update(spendingKey, spendingKind, (stored) => {
        spent = undefined;
        if (stored?.day !== day || stored.isTold === isTold) return stored;
        spent = stored.total;
        return { ...stored, isTold };
      });
    try {
      await note(true);
      if (spent === undefined) return;
      logger.warn('most of what model calls may cost today is used', { day, spent, limit });
      await tellOwner({ day, spent, limit });
    } catch (error) {
      logger.warn('the owner could not be told what is used of the daily cost', { error });
      await note(false).catch(() => undefined);
    }
  }

  /** What a call did not cost is free again. Never rejects. */
  async function giveBack(userId: string, day: string, usd: number): Promise<void> {
    const less = lessBy(usd);
    try {
      if (dailyCostPerPerson !== undefined) await addToOwn(userId, day, less);
      const total = dailyCost === undefined ? undefined : await addToTotal(day, less);
      if (dailyCost !== undefined && total !== undefined && total >= dailyCost * mostShare)
        await tellOfMost(day, dailyCost);
    } catch (error) {
      logger.error('what a model call did not cost could not be noted', { userId, error });
    }
  }

  async function reserve(userId: string, day: string, usd: number): Promise<boolean> {
    if (dailyCostPerPerson !== undefined) {
      const own = await addToOwn(userId, day, upTo(usd, dailyCostPerPerson));
      if (own === undefined) return false;
    }
    if (dailyCost === undefined || (await addToTotal(day, upTo(usd, dailyCost))) !== undefined) return true;
    if (dailyCostPerPerson !== undefined) await addToOwn(userId, day, lessBy(usd));
    await tellOfMost(day, dailyCost);
    return false;
  }

  return {
    budget:
      dailyCost === undefined && dailyCostPerPerson === undefined
        ? undefined
        : {
            async reserve({ userId, purpose }, usd) {
              const day = today();
              const isFree = await reserve(userId, day, usd).catch((error: unknown) => {
                throw new ModelError('What was used today cannot be read', 'unavailable', { cause: error });
              });
              if (!isFree) {
                if (purpose !== 'chat') held.set(userId, day);
                throw new ModelError('It might cost more than the limit of the day', 'over-limit');
              }
              let isSettled = false;
              return {
                settle(actual = usd) {
                  if (isSettled) return;
                  isSettled = true;
                  const work = giveBack(userId, day, usd - actual).finally(() => settling.delete(work));
                  settling.add(work);
                },
              };
            },
          },
    heldUntil(userId) {
      const day = held.get(userId);
      held.delete(userId);
      if (day === undefined) return undefined;
      return day === today() ? nextDayAt(clock(), timeZone) : clock();
    },
    start: () => Promise.resolve(),
    async flush() {
      await Promise.all(settling);
    },
    layer: {
      name: 'cost',
      sections: () => Promise.resolve([]),
      follow: () => Promise.resolve(),
      async *export(userId) {
        const stored = await store.read(ownKey(userId), ownSpendingKind);
        if (stored !== undefined)
          yield {
            path: 'cost.json',
            text: JSON.stringify({ day: stored.day, usd: stored.usd }, undefined, 2),
          };
      },
      async erase({ userId, isWhole }) {
        if (isWhole) await store.remove(ownKey(userId));
      },
    },
  };
}

/** What is stored, where it is of the day, or of a later one by another process's clock: a day that has begun is not ended again. */
function present<T extends { readonly day: string }>(stored: T | undefined, day: string): T | undefined {
  return stored !== undefined && stored.day >= day ? stored : undefined;
}

/** Whether nothing is left of the day, or of the person, to give back to. */
function isOver(stored: { readonly day: string } | undefined, day: string, { isBack }: Change): boolean {
  return isBack && stored?.day !== day;
}

/** More, unless it is over the limit then. */
function upTo(added: number, limit: number): Change {
  return { isBack: false, of: (usd) => (usd + added > limit ? undefined : usd + added) };
}

function lessBy(taken: number): Change {
  return { isBack: true, of: (usd) => Math.max(0, usd - taken) };
}

function ownKey(userId: string): string {
  if (!isSnowflake(userId)) throw new RangeError(`${userId} is no Discord id`);
  return `users/${userId}/spending.json`;
}
