import { z } from 'zod';

import { type Clock, type Timer, daysAfter, localDate, localDateTime } from '../core/time.ts';
import {
  noUsage,
  usageSumSchema,
  type ModelRequest,
  type ModelUsage,
  type PeriodUsage,
  type UsageReport,
  type UsageSum,
} from '../core/model.ts';
import { onMeasured, type Logger } from '../core/logger.ts';
import type { DocumentKind, Store } from '../core/store.ts';

/** How long usage is gathered before it is written, so that not every call is a write; milliseconds. */
const writeAfterMs = 5000;

const usageKey = 'usage.json';

const usedByName = z.record(z.string(), usageSumSchema);
const counts = z.record(z.string(), z.number());
/** Calls by the name that was asked for and by what they were for; turns by how they ended. */
const sumsSchema = z.object({
  models: usedByName,
  purposes: usedByName,
  turns: counts,
  waited: counts,
  errors: counts,
});
const documentSchema = z.object({
  version: z.literal(1),
  /** By local day, `YYYY-MM-DD`: the newest ones, enough for a month. */
  days: z.record(z.string(), sumsSchema),
  /** By local hour, `YYYY-MM-DDTHH`: the newest ones, enough for a day. */
  hours: z.record(z.string(), sumsSchema),
});
const mostDays = 31;
const mostHours = 24;
const shownDays = 30;

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

/** Adds up what the models use, how turns end and what fails, in `usage.json`. A kill costs the last seconds. */
export function createUsageMeter({ store, clock, timer, timeZone, costOf, logger }: UsageMeterOptions) {
  let unwritten: UsageDocument | undefined;
  let stopTimer: (() => void) | undefined;
  let writing = Promise.resolve();

  const hourOf = (date: Date): string => localDateTime(date, timeZone).slice(0, 13).replace(' ', 'T');

  function gather(sums: Partial<Sums>): void {
    const now = clock();
    const whole = { ...noSums, ...sums };
    unwritten = merged(unwritten, {
      version: 1,
      days: { [localDate(now, timeZone)]: whole },
      hours: { [hourOf(now)]: whole },
    });
  }

  function writeSoon(): void {
    stopTimer ??= timer(() => void flush(), writeAfterMs);
  }

  const ends = [
    onMeasured('turn', ({ outcome }) => {
      gather({ turns: { [outcome]: 1 } });
      writeSoon();
    }),
    onMeasured('waited', ({ queue }) => gather({ waited: { [queue]: 1 } })),
    // Failures are written with the next call or turn: where the disk refuses, trying at once would only fail again.
    onMeasured('modelError', ({ failure }) => gather({ errors: { [`model ${failure}`]: 1 } })),
    onMeasured('storeError', ({ writes }) => gather({ errors: { 'failed write': writes } })),
  ];

  async function write(): Promise<void> {
    const gathered = unwritten;
    if (gathered === undefined) return;
    unwritten = undefined;
    try {
      await store.update(usageKey, usageKind, (stored) => merged(stored, gathered));
    } catch (error) {
      unwritten = unwritten === undefined ? gathered : merged(unwritten, gathered);
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
      cost: number | undefined = costOf(model, usage),
    ): void {
      const used = { ...usage, calls: 1, cost: cost ?? 0, isUnpriced: cost === undefined };
      gather({ models: { [model]: used }, purposes: { [purpose]: used } });
      writeSoon();
    },
    /** Up to the present moment. Rejects with `StoreError`. */
    async report(): Promise<UsageReport> {
      await writing;
      const stored = await store.read(usageKey, usageKind);
      const { days, hours } = merged(stored, unwritten);
      const now = clock();
      const today = localDate(now, timeZone);
      const month = today.slice(0, 7);
      const ofMonth = Object.entries(days).filter(([day]) => day.startsWith(month));
      const shown = [today];
      for (let day = today; shown.length < shownDays; shown.unshift(day)) day = daysAfter(day, -1);
      const moments = Array.from({ length: mostHours }, (_, ago) => now.getTime() - ago * hourMs);
      // Where clocks are set back, an hour comes twice.
      const shownHours = new Set(moments.map((moment) => hourOf(new Date(moment))));
      return {
        today: periodOf(today, days[today]),
        month: periodOf(month, sumsSchema.parse(ofMonth.map(([, sums]) => sums).reduce(added, noSums))),
        days: shown.map((day) => periodOf(day, days[day])),
        hours: [...shownHours].toReversed().map((hour) => periodOf(hour, hours[hour])),
      };
    },
    /** What is measured is counted no longer. */
    close(): void {
      for (const end of ends) end();
    },
  };
}

const hourMs = 3_600_000;
const noSums: Sums = { models: {}, purposes: {}, turns: {}, waited: {}, errors: {} };
const nothingUsed: UsageSum = { ...noUsage, calls: 0, cost: 0, isUnpriced: false };

function periodOf(period: string, { models, purposes, ...counted }: Sums = noSums): PeriodUsage {
  const all = usageSumSchema.parse(Object.values(models).reduce(added, nothingUsed));
  return { period, all, byModel: models, byPurpose: purposes, ...counted };
}

/** Both together, without what is too old. */
function merged(one: UsageDocument | undefined, other: UsageDocument | undefined): UsageDocument {
  return documentSchema.parse({
    version: 1,
    days: newest(mostDays, added(one?.days, other?.days)),
    hours: newest(mostHours, added(one?.hours, other?.hours)),
  });
}

/** Those whose names come last. */
function newest(most: number, byPeriod: unknown): Readonly<Record<string, unknown>> {
  const entries = Object.entries(byPeriod ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.slice(-most));
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
