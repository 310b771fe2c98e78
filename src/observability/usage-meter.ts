import { z } from 'zod';

import { type Clock, type Timer, localDate } from '../core/time.ts';
import {
  noUsage,
  type ModelRequest,
  type ModelUsage,
  type PeriodUsage,
  type UsageReport,
} from '../core/model.ts';
import type { Logger } from '../core/logger.ts';
import type { DocumentKind, Store } from '../core/store.ts';

/** How long usage is gathered before it is written, so that not every call is a write; milliseconds. */
const writeAfterMs = 5000;

const usageKey = 'usage.json';

const usedSchema = z.object({
  calls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  cacheHourTokens: z.number(),
  /** US dollars. */
  cost: z.number(),
  /** Some call's price was not known. */
  isUnpriced: z.boolean(),
  /** By the vendor's reason. */
  cacheMisses: z.record(z.string(), z.number()),
});
const usedByName = z.record(z.string(), usedSchema);
/** By the name that was asked for, and by what the calls were for. */
const sumsSchema = z.object({ models: usedByName, purposes: usedByName });
const documentSchema = z.object({
  version: z.literal(1),
  /** Local, `YYYY-MM-DD`. */
  day: z.string(),
  ofDay: sumsSchema,
  /** Of the month of that day. */
  ofMonth: sumsSchema,
});

type Used = z.infer<typeof usedSchema>;
type Sums = z.infer<typeof sumsSchema>;
type UsageDocument = z.infer<typeof documentSchema>;

export const usageKind: DocumentKind<UsageDocument> = { version: 1, schema: documentSchema };

export interface UsageMeterOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly timer: Timer;
  /** IANA; days are local [N5]. */
  readonly timeZone: string;
  /** US dollars of a call, where its price is known. */
  readonly costOf: (model: string, usage: ModelUsage) => number | undefined;
  readonly logger: Logger;
}

/** Adds up what the models use, in `usage.json`. A kill costs the last seconds. */
export function createUsageMeter({ store, clock, timer, timeZone, costOf, logger }: UsageMeterOptions) {
  let unwritten: UsageDocument | undefined;
  let stopTimer: (() => void) | undefined;
  let writing = Promise.resolve();

  const documentOf = (sums: Sums): UsageDocument => ({
    version: 1,
    day: localDate(clock(), timeZone),
    ofDay: sums,
    ofMonth: sums,
  });

  async function write(): Promise<void> {
    const gathered = unwritten;
    if (gathered === undefined) return;
    unwritten = undefined;
    try {
      await store.update(usageKey, usageKind, (stored) => merged(stored, gathered));
    } catch (error) {
      unwritten = merged(unwritten, gathered);
      logger.warn('model usage could not be saved', { error });
    }
  }

  /** Writes what was gathered; what cannot be written is kept for the next time. Never rejects. */
  function flush(): Promise<void> {
    stopTimer?.();
    stopTimer = undefined;
    return (writing = writing.then(write));
  }

  return {
    flush,
    /** `cost` is given where it does not go by tokens. Never throws. */
    add(
      {
        model,
        purpose,
      }: { readonly model: string; readonly purpose: ModelRequest['purpose'] | 'transcription' },
      usage: ModelUsage,
      cacheMiss?: string,
      cost: number | undefined = costOf(model, usage),
    ): void {
      const cacheMisses = cacheMiss === undefined ? {} : { [cacheMiss]: 1 };
      const used = { ...usage, calls: 1, cost: cost ?? 0, isUnpriced: cost === undefined, cacheMisses };
      const sums = { models: { [model]: used }, purposes: { [purpose]: used } };
      unwritten = merged(unwritten, documentOf(sums));
      stopTimer ??= timer(() => void flush(), writeAfterMs);
    },
    /** Of the present day and month. Rejects with `StoreError`. */
    async report(): Promise<UsageReport> {
      await writing;
      const stored = await store.read(usageKey, usageKind);
      const gathered = merged(unwritten, documentOf({ models: {}, purposes: {} }));
      const { day, ofDay, ofMonth } = merged(stored, gathered);
      return { today: periodOf(day, ofDay), month: periodOf(monthIn(day), ofMonth) };
    },
  };
}

const nothingUsed: Used = { ...noUsage, calls: 0, cost: 0, isUnpriced: false, cacheMisses: {} };

function monthIn(day: string): string {
  return day.slice(0, 7);
}

function periodOf(period: string, { models, purposes }: Sums): PeriodUsage {
  const all = usedSchema.parse(Object.values(models).reduce(added, nothingUsed));
  return { period, all, byModel: models, byPurpose: purposes };
}

/** Both together where they are of one day, and of one month; otherwise the later one, since only the present ones count. */
function merged(one: UsageDocument | undefined, other: UsageDocument): UsageDocument {
  if (one === undefined) return other;
  const [earlier, later] = one.day > other.day ? [other, one] : [one, other];
  if (monthIn(earlier.day) !== monthIn(later.day)) return later;
  const ofDay = earlier.day === later.day ? both(earlier.ofDay, later.ofDay) : later.ofDay;
  return { ...later, ofDay, ofMonth: both(earlier.ofMonth, later.ofMonth) };
}

function both(a: Sums, b: Sums): Sums {
  return sumsSchema.parse(added(a, b));
}

/** Numbers under the same names are added up, at any depth; a flag stays set. */
function added(a: unknown, b: unknown): unknown {
  if (a === undefined || b === undefined) return a ?? b;
  if (typeof a === 'number') return a + Number(b);
  if (typeof a === 'boolean') return a || b;
  const [one, other] = [new Map(Object.entries(a ?? {})), new Map(Object.entries(b ?? {}))];
  const names = new Set([...one.keys(), ...other.keys()]);
  return Object.fromEntries(Array.from(names, (name) => [name, added(one.get(name), other.get(name))]));
}
