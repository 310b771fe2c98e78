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
  /** Files of earlier versions do not tell. */
  cacheHourTokens: z.number().default(0),
  /** US dollars. */
  cost: z.number(),
  /** Some call's price was not known. */
  isUnpriced: z.boolean(),
  /** By the vendor's reason; as above. */
  cacheMisses: z.record(z.string(), z.number()).default({}),
});
const usedByName = z.record(z.string(), usedSchema);
const documentSchema = z.object({
  version: z.literal(1),
  /** Local, `YYYY-MM-DD`. */
  day: z.string(),
  models: usedByName,
  /** By what the calls were for; files of earlier versions do not tell, as with the month. */
  purposes: usedByName.default({}),
  /** The month of that day. */
  month: z.object({ models: usedByName, purposes: usedByName }).optional(),
});

type Used = z.infer<typeof usedSchema>;
type UsedByName = z.infer<typeof usedByName>;
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

/** Adds up what the models use in the present day and month, in `usage.json`, so that it outlives a restart. A kill costs the last seconds. */
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
    const names = { models: { [model]: used }, purposes: { [purpose]: used } };
    this.#pending.push({ ...this.#nothing(), ...names, month: names });
    this.#armed ??= this.#options.timer(() => void this.flush(), writeAfterMs);
  }

  /** Of the present day and month. Rejects with `StoreError`. */
  async report(): Promise<UsageReport> {
    await this.#writing;
    const stored = await this.#options.store.read(usageKey, usageKind);
    const { day, ...ofDay } = merged(addedTo(stored, this.#pending), this.#nothing());
    return { today: periodOf(day, ofDay), month: periodOf(monthIn(day), ofDay.month ?? nothingByName) };
  }

  /** Writes what was gathered; what cannot be written is kept for the next time. Never rejects. */
  flush(): Promise<void> {
    this.#armed?.();
    this.#armed = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const gathered = this.#pending;
    if (gathered.length === 0) return;
    this.#pending = [];
    try {
      await this.#options.store.update(usageKey, usageKind, (stored) => addedTo(stored, gathered));
    } catch (error) {
      // Together, since a disk may refuse it for days.
      this.#pending.unshift(gathered.reduce((one, other) => merged(one, other)));
      this.#options.logger.warn('model usage could not be saved', { error });
    }
  }

  #nothing(): UsageDocument {
    const { clock, timeZone } = this.#options;
    return { version: 1, day: localDate(clock(), timeZone), ...nothingByName };
  }
}

const nothingUsed: Used = { ...noUsage, calls: 0, cost: 0, isUnpriced: false, cacheMisses: {} };
const nothingByName = { models: {}, purposes: {} };

function monthIn(day: string): string {
  return day.slice(0, 7);
}

function periodOf(
  period: string,
  { models, purposes }: { readonly models: UsedByName; readonly purposes: UsedByName },
): PeriodUsage {
  const all = Object.values(models).reduce(sum, nothingUsed);
  return { period, all, byModel: models, byPurpose: purposes };
}

/** Both together where they are of one day, and of one month; otherwise the later one, whoever wrote first, since only the present ones count. */
function merged(one: UsageDocument | undefined, other: UsageDocument): UsageDocument {
  if (one === undefined) return other;
  const [earlier, later] = one.day > other.day ? [other, one] : [one, other];
  if (monthIn(earlier.day) !== monthIn(later.day)) return later;
  // Before months were counted, the day is all that is known of its month.
  const month = both(earlier.month ?? earlier, later.month ?? later);
  return { ...later, ...(earlier.day === later.day ? both(earlier, later) : {}), month };
}

function addedTo(stored: UsageDocument | undefined, gathered: readonly UsageDocument[]) {
  return gathered.reduce<UsageDocument | undefined>((all, each) => merged(all, each), stored);
}

type ByName = Pick<UsageDocument, 'models' | 'purposes'>;

function both(a: ByName, b: ByName): ByName {
  return { models: together(a.models, b.models), purposes: together(a.purposes, b.purposes) };
}

function together(a: UsedByName, b: UsedByName): UsedByName {
  const known = new Map(Object.entries(a));
  for (const [name, used] of Object.entries(b)) known.set(name, sum(known.get(name) ?? nothingUsed, used));
  return Object.fromEntries(known);
}

function sum(a: Used, b: Used): Used {
  return {
    ...addUsage(a, b),
    calls: a.calls + b.calls,
    cost: a.cost + b.cost,
    isUnpriced: a.isUnpriced || b.isUnpriced,
    cacheMisses: summed(a.cacheMisses, b.cacheMisses),
  };
}

function summed(a: Used['cacheMisses'], b: Used['cacheMisses']): Used['cacheMisses'] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return Object.fromEntries(names.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}
