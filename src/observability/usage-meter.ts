import { z } from 'zod';

import { type Clock, type Timer, localDate } from '../core/time.ts';
import { addUsage, noUsage, type DayUsage, type ModelUsage } from '../core/model.ts';
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
const documentSchema = z.object({
  version: z.literal(1),
  /** Local, `YYYY-MM-DD`. */
  day: z.string(),
  models: z.record(z.string(), usedSchema),
});

type Used = z.infer<typeof usedSchema>;
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

/** Adds up what the models use on the present day, in `usage.json`, so that it outlives a restart. A kill costs the last seconds. */
export class UsageMeter {
  readonly #options: UsageMeterOptions;
  /** What is not written yet. */
  #pending: UsageDocument;
  #armed: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: UsageMeterOptions) {
    this.#options = options;
    this.#pending = this.#nothing();
  }

  /** Never throws. */
  add(model: string, usage: ModelUsage, cacheMiss?: string): void {
    const cost = this.#options.costOf(model, usage);
    const cacheMisses = cacheMiss === undefined ? {} : { [cacheMiss]: 1 };
    const used = { ...usage, calls: 1, cost: cost ?? 0, isUnpriced: cost === undefined, cacheMisses };
    this.#pending = merged(this.#pending, { ...this.#nothing(), models: { [model]: used } });
    this.#armed ??= this.#options.timer(() => void this.flush(), writeAfterMs);
  }

  /** Of the present day. Rejects with `StoreError`. */
  async today(): Promise<DayUsage> {
    await this.#writing;
    const stored = await this.#options.store.read(usageKey, usageKind);
    const { day, models } = merged(merged(stored, this.#pending), this.#nothing());
    const all = Object.entries(models);
    return {
      ...all.map(([, used]) => used).reduce(sum, nothingUsed),
      day,
      unpriced: all.flatMap(([name, { isUnpriced }]) => (isUnpriced ? [name] : [])),
    };
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
    if (Object.keys(gathered.models).length === 0) return;
    this.#pending = this.#nothing();
    try {
      await this.#options.store.update(usageKey, usageKind, (stored) => merged(stored, gathered));
    } catch (error) {
      this.#pending = merged(gathered, this.#pending);
      this.#options.logger.warn('model usage could not be saved', { error });
    }
  }

  #nothing(): UsageDocument {
    const { clock, timeZone } = this.#options;
    return { version: 1, day: localDate(clock(), timeZone), models: {} };
  }
}

const nothingUsed: Used = { ...noUsage, calls: 0, cost: 0, isUnpriced: false, cacheMisses: {} };

/** Both together where they are of one day; otherwise the later one, since only the present day counts. */
function merged(before: UsageDocument | undefined, after: UsageDocument): UsageDocument {
  if (before === undefined || before.day !== after.day) return after;
  const known = new Map(Object.entries(before.models));
  for (const [name, used] of Object.entries(after.models))
    known.set(name, sum(known.get(name) ?? nothingUsed, used));
  return { ...after, models: Object.fromEntries(known) };
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
