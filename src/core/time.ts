import { setImmediate } from 'node:timers/promises';

/** The present moment, as an input. */
export type Clock = () => Date;

/** Calls back after some milliseconds; the returned function cancels that. Does not keep the process alive. */
export type Timer = (callback: () => void, ms: number) => () => void;

/**
 * `YYYY-MM-DD` in an IANA time zone [N5].
 * @throws {RangeError} for an unknown zone or an invalid date.
 */
export function localDate(date: Date, timeZone: string): string {
  return wallClockIn(timeZone)(date.getTime()).slice(0, 10);
}

/** `YYYY-MM-DD HH:MM`. @throws {RangeError} like `localDate`. */
export function localDateTime(date: Date, timeZone: string): string {
  return wallClockIn(timeZone)(date.getTime()).replace('T', ' ');
}

const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/**
 * As models are told it [H3], with the weekday, since people say "on Friday": `Thu 2026-01-15 14:03`; `at
 * unknown time` for an invalid date.
 * @throws {RangeError} for an unknown zone.
 */
export function localMoment(date: Date, timeZone: string): string {
  if (Number.isNaN(date.getTime())) return 'at unknown time';
  const moment = localDateTime(date, timeZone);
  return `${dayNames[new Date(`${moment.slice(0, 10)}T12:00:00Z`).getUTCDay()] ?? ''} ${moment}`;
}

/**
 * The calendar day before a `YYYY-MM-DD`; 24 hours would be wrong where clocks change.
 * @throws {RangeError} when `day` is not a date.
 */
export function dayBefore(day: string): string {
  const noon = new Date(`${day}T12:00:00Z`);
  noon.setUTCDate(noon.getUTCDate() - 1);
  return noon.toISOString().slice(0, 10);
}

/** Since 1980 all clocks have been whole quarters of an hour away from UTC. */
const quarterMs = 900_000;

/** When the next local day begins; some have no midnight. @throws {RangeError} like `localDate`. */
export function nextDayAt(date: Date, timeZone: string): Date {
  const today = localDate(date, timeZone);
  let quarter = Math.floor(date.getTime() / quarterMs);
  do quarter += 1;
  while (localDate(new Date(quarter * quarterMs), timeZone) === today);
  return new Date(quarter * quarterMs);
}

/** `YYYY-MM-DDTHH:MM`, by milliseconds since the epoch. */
type WallClock = (time: number) => string;

/** Making one takes far longer than using it. */
const wallClocks = new Map<string, WallClock>([
  // Avoids the first format of `Intl`, which takes 20 ms and 8 MB: most servers have UTC.
  ['UTC', (time) => new Date(time).toISOString().slice(0, 16)],
]);

/**
 * For many moments of one zone.
 * @throws {RangeError} for an unknown zone; the result does for an invalid date.
 */
export function wallClockIn(timeZone: string): WallClock {
  const known = wallClocks.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  });
  const clock: WallClock = (time) => {
    // `01/15/2026, 14:03`; far faster than asking for the parts.
    const [month = '', day = '', year = '', hour = '', minute = ''] = format.format(time).split(/\D+/u);
    return `${year.padStart(4, '0')}-${month}-${day}T${hour}:${minute}`;
  };
  wallClocks.set(timeZone, clock);
  return clock;
}

/** A zone by its IANA name in any case, as `Intl` writes it; `undefined` where there is none. */
export function timeZoneNamed(name: string): string | undefined {
  if (name.toUpperCase() === 'UTC') return 'UTC';
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The machine's time zone; UTC where clocks show the same all year. */
export function machineTimeZone(): string {
  const year = new Date().getFullYear();
  const isUtc = Array.from({ length: 12 }, (_, month) => new Date(year, month)).every(
    (begin) => begin.getTimezoneOffset() === 0,
  );
  return isUtc ? 'UTC' : new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Milliseconds of computing before others have their turn. */
const sliceMs = 8;

/**
 * For work of many steps [L4]: await the returned function between them, so that the event loop is never held
 * for long. Say what may change meanwhile, and run parts one after the other: side by side they add up.
 */
export function createTimeSlice(): () => Promise<void> {
  let begun = performance.now();
  return async () => {
    if (performance.now() - begun < sliceMs) return;
    await setImmediate();
    begun = performance.now();
  };
}

/** The work's result, or `late` after so many milliseconds. Rejects as the work does. */
export async function withTimeout<Result>(ms: number, work: Promise<Result>, late: Result): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Result>((resolve) => {
    timer = setTimeout(resolve, ms, late);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** Rejects with the signal's reason as soon as it is aborted, while the work may go on. */
export async function unlessAborted<Result>(
  signal: AbortSignal | undefined,
  work: Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work;
  const over = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    over.abort();
  }
}

/** Resolves after so many milliseconds or on abort. Does not keep the process alive. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(over, ms);
    timer.unref();
    signal.addEventListener('abort', over);
    function over(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    }
  });
}

export const processTimer: Timer = (callback, ms) => {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

/** A timer whose owner can end all its calls at once, for good. */
export function endableTimer(timer: Timer): { readonly timer: Timer; readonly end: () => void } {
  let hasEnded = false;
  return {
    timer: (callback, ms) =>
      timer(() => {
        if (!hasEnded) callback();
      }, ms),
    end() {
      hasEnded = true;
    },
  };
}
