import { z } from 'zod';

import { type Clock, type Timer, localDate } from '../core/time.ts';
import {
  addUsage,
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
export class UsageMeter {
  readonly #options: UsageMeterOptions;
  /** What is not written yet, call by call: nobody waits for it to be added up. */
  #pending: UsageDocument[] = [];
  #armed: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: UsageMeterOptions) {
    this.#options = options;
  }

  /** Never throws. */
  add(
    { model, purpose }: Pick<ModelRequest, 'model' | 'purpose'>,
    usage: ModelUsage,
    cacheMiss?: string,
  ): void {
    const cost = this.#options.costOf(model, usage);
    const cacheMisses = cacheMiss === undefined ? {} : { [cacheMiss]: 1 };
    const used = { ...usage, calls: 1, cost: cost ?? 0, isUnpriced: cost === undefined, cacheMisses };
    const sums = { models: { [model]: used }, purposes: { [purpose]: used } };
    this.#pending.push({ version: 1, day: this.#today(), ofDay: sums, ofMonth: sums });
    this.#armed ??= this.#options.timer(() => void this.flush(), writeAfterMs);
  }

  /** Of the present day and month. Rejects with `StoreError`. */
  async report(): Promise<UsageReport> {
    await this.#writing;
    const stored = await this.#options.store.read(usageKey, usageKind);
    const nothing = { version: 1 as const, day: this.#today(), ofDay: nothingByName, ofMonth: nothingByName };
    const { day, ofDay, ofMonth } = [...this.#pending, nothing].reduce(merged, stored ?? nothing);
    return { today: periodOf(day, ofDay), month: periodOf(monthIn(day), ofMonth) };
  }

  /** Writes what was gathered; what cannot be written is kept for the next time. Never rejects. */
  flush(): Promise<void> {
    this.#armed?.();
    this.#armed = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const [first, ...others] = this.#pending;
    if (first === undefined) return;
    this.#pending = [];
    // Together, since a disk may refuse it for days.
    const gathered = others.reduce(merged, first);
    try {
      await this.#options.store.update(usageKey, usageKind, (stored) =>
        stored === undefined ? gathered : merged(stored, gathered),
      );
    } catch (error) {
      this.#pending.unshift(gathered);
      this.#options.logger.warn('model usage could not be saved', { error });
    }
  }

  #today(): string {
    const { clock, timeZone } = this.#options;
    return localDate(clock(), timeZone);
  }
}

const nothingUsed: Used = { ...noUsage, calls: 0, cost: 0, isUnpriced: false, cacheMisses: {} };
const nothingByName = { models: {}, purposes: {} };

function monthIn(day: string): string {
  return day.slice(0, 7);
}

function periodOf(period: string, { models, purposes }: Sums): PeriodUsage {
  const all = Object.values(models).reduce(sum, nothingUsed);
  return { period, all, byModel: models, byPurpose: purposes };
}

/** Both together where they are of one day, and of one month; otherwise the later one, since only the present ones count. */
function merged(one: UsageDocument, other: UsageDocument): UsageDocument {
  const [earlier, later] = one.day > other.day ? [other, one] : [one, other];
  if (monthIn(earlier.day) !== monthIn(later.day)) return later;
  const ofDay = earlier.day === later.day ? both(earlier.ofDay, later.ofDay) : later.ofDay;
  return { ...later, ofDay, ofMonth: both(earlier.ofMonth, later.ofMonth) };
}

function both(a: Sums, b: Sums): Sums {
  return {
    models: together(a.models, b.models, sum),
    purposes: together(a.purposes, b.purposes, sum),
  };
}

function sum(a: Used, b: Used): Used {
  return {
    ...addUsage(a, b),
    calls: a.calls + b.calls,
    cost: a.cost + b.cost,
    isUnpriced: a.isUnpriced || b.isUnpriced,
    cacheMisses: together(a.cacheMisses, b.cacheMisses, (one, other) => one + other),
  };
}

/** What either has under a name, and of what both have the sum. */
function together<Value>(
  a: Readonly<Record<string, Value>>,
  b: Readonly<Record<string, Value>>,
  add: (one: Value, other: Value) => Value,
): Record<string, Value> {
  const all = new Map(Object.entries(a));
  for (const [name, value] of Object.entries(b)) {
    const known = all.get(name);
    all.set(name, known === undefined ? value : add(known, value));
  }
  return Object.fromEntries(all);
}
