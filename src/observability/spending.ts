import { z } from 'zod';

import { ModelError, type ModelFailure } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import type { CallBudget, OwnerNews, Trouble } from '../core/model.ts';
import { assertSnowflake } from '../core/snowflake.ts';
import type { DocumentKind, Store } from '../core/store.ts';
import { localDate, nextDayAt, type Clock } from '../core/time.ts';

/** What all calls cost; a person's stands in their own folder. */
const totalKey = 'spending.json';

const sumSchema = z.object({
  version: z.literal(1),
  /** Local, `YYYY-MM-DD`; of other days nothing is kept. */
  day: z.string(),
  /** US dollars, at least what was used or may yet be. */
  usd: z.number(),
  /** The owner was told that most of it is used. */
  isReported: z.literal(true).exactOptional(),
  /** The owner was told that an account has to be seen to. */
  isAccountReported: z.literal(true).exactOptional(),
});

type Sum = z.infer<typeof sumSchema>;

export const spendingKind: DocumentKind<Sum> = { version: 1, schema: sumSchema };

/** Share of the daily limit at which the owner is told. */
const mostShare = 0.8;

export interface SpendingOptions {
  readonly store: Pick<Store, 'read' | 'update' | 'remove'>;
  readonly clock: Clock;
  /** IANA; days are local [N5]. */
  readonly timeZone: string;
  /** US dollars a day, of all calls and of one person's; without both nothing is counted. */
  readonly limits: {
    readonly dailyCost?: number | undefined;
    readonly dailyCostPerPerson?: number | undefined;
  };
  /** Tells the owner, each once a day. May reject. */
  readonly tellOwner: (news: OwnerNews) => Promise<void>;
  readonly logger: Logger;
}

export type Spending = ReturnType<typeof createSpending>;

/** The most that a call can cost is added before it goes out [L2]. In memory while the store refuses. */
export function createSpending({ store, clock, timeZone, limits, tellOwner, logger }: SpendingOptions) {
  const { dailyCost, dailyCostPerPerson } = limits;
  const sums = createKeyedQueue();
  /** By key, how far the day's sum is ahead of the store's. */
  const unsaved = new Map<string, { readonly day: string; readonly usd: number }>();
  /** People whose background work was refused, and on which day. */
  const held = new Map<string, string>();
  const today = (): string => localDate(clock(), timeZone);

  /** Without a limit it gives back, to its own day. `undefined` where nothing changed. Rejects with `StoreError`. */
  function add(key: string, day: string, usd: number, limit?: number): Promise<number | undefined> {
    return sums.run(key, async () => {
      const ahead = unsaved.get(key)?.day === day ? (unsaved.get(key)?.usd ?? 0) : undefined;
      let made: number | undefined;
      function changed(stored: Sum | undefined): Sum | undefined {
        const known = present(stored, day) ?? { version: 1 as const, day, usd: 0 };
        const isOver = limit === undefined && stored?.day !== day && ahead === undefined;
        const sum = known.usd + (ahead ?? 0) + usd;
        made = isOver || sum > (limit ?? Infinity) ? undefined : Math.max(0, sum);
        return made === undefined ? stored : { ...known, usd: made };
      }
      try {
        await store.update(key, spendingKind, changed);
        if (made !== undefined) unsaved.delete(key);
      } catch (error) {
        const stored = await store.read(key, spendingKind);
        changed(stored);
        if (made !== undefined) unsaved.set(key, { day, usd: made - (present(stored, day)?.usd ?? 0) });
        logger.error('model cost could not be saved; counting in memory', { error });
      }
      return made;
    });
  }

  /** The process that notes it first on a day tells the owner. Never rejects. */
  async function tellOnce(day: string, about: Trouble): Promise<void> {
    const mark = 'limit' in about ? 'isReported' : 'isAccountReported';
    let spent: number | undefined;
    try {
      await store.update(totalKey, spendingKind, (stored) => {
        const known = present(stored, day) ?? { version: 1 as const, day, usd: 0 };
        const isNews = known.day === day && known[mark] === undefined;
        spent = isNews ? known.usd : undefined;
        return isNews ? { ...known, [mark]: true as const } : stored;
      });
      if (spent === undefined) return;
      logger.warn('the owner is told by direct message', { ...about, day, spent });
      await tellOwner({ ...about, day, spent });
    } catch (error) {
      logger.warn('the owner could not be told by direct message', { error });
    }
  }

  /** What a call did not cost is free again. Never rejects. */
  async function giveBack(userId: string, day: string, usd: number): Promise<void> {
    try {
      if (dailyCostPerPerson !== undefined) await add(ownKey(userId), day, -usd);
      const total = dailyCost === undefined ? undefined : await add(totalKey, day, -usd);
      if (dailyCost !== undefined && total !== undefined && total >= dailyCost * mostShare)
        await tellOnce(day, { limit: dailyCost });
    } catch (error) {
      logger.error('unused model cost could not be released', { userId, error });
    }
  }

  async function reserve(userId: string, day: string, usd: number): Promise<boolean> {
    if (dailyCostPerPerson !== undefined) {
      const own = await add(ownKey(userId), day, usd, dailyCostPerPerson);
      if (own === undefined) return false;
    }
    if (dailyCost === undefined || (await add(totalKey, day, usd, dailyCost)) !== undefined) return true;
    if (dailyCostPerPerson !== undefined) await add(ownKey(userId), day, -usd);
    await tellOnce(day, { limit: dailyCost });
    return false;
  }

  const settling = new Set<Promise<void>>();
  const budget: CallBudget = {
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
        charge(actual = usd) {
          if (isSettled) return;
          isSettled = true;
          const work = giveBack(userId, day, usd - actual).finally(() => settling.delete(work));
          settling.add(work);
        },
      };
    },
  };

  return {
    /** `undefined` where calls may cost anything. */
    budget: dailyCost === undefined && dailyCostPerPerson === undefined ? undefined : budget,
    /** When background work of a person that was refused can be done, told once. */
    heldUntil(this: void, userId: string): Date | undefined {
      const day = held.get(userId);
      held.delete(userId);
      if (day === undefined) return undefined;
      return day === today() ? nextDayAt(clock(), timeZone) : clock();
    },
    /** Tells the owner, once a day, of a model whose account has to be seen to [M16]. Never rejects. */
    tellOfAccount(failure: ModelFailure, model: string): Promise<void> {
      return tellOnce(today(), { model, failure });
    },
    /** Resolves when the store has what was really used. Never rejects. */
    async flush(): Promise<void> {
      await Promise.all(settling);
    },
    /** What is held of a person: what theirs cost today. It is a layer so that it is exported and erased with the others. */
    layer: {
      name: 'cost' as const,
      sections: () => Promise.resolve([]),
      async delete(deletion: { readonly kind: string; readonly userId?: string }) {
        const { kind, userId = '' } = deletion;
        if (kind !== 'person') return;
        unsaved.delete(ownKey(userId));
        await store.remove(ownKey(userId));
      },
      async *export(userId: string) {
        const stored = await store.read(ownKey(userId), spendingKind);
        if (stored !== undefined)
          yield {
            path: 'cost.json',
            text: JSON.stringify({ day: stored.day, usd: stored.usd }, undefined, 2),
          };
      },
    },
  };
}

/** What is stored, if it is of the day or a later one: a day that has begun is not ended again. */
function present(stored: Sum | undefined, day: string): Sum | undefined {
  return stored !== undefined && stored.day >= day ? stored : undefined;
}

function ownKey(userId: string): string {
  return `users/${assertSnowflake(userId)}/spending.json`;
}
