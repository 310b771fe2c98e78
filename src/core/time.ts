import { setImmediate, setTimeout as delay } from 'node:timers/promises';

import { ModelError } from './errors.ts';

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
  return `${dayNames[weekdayOf(moment.slice(0, 10))] ?? ''} ${moment}`;
}

/** `YYYY-MM-DD` of a year, a month and its day. */
export function dayText(...parts: readonly (number | string)[]): string {
  return parts.map((part, index) => String(part).padStart(index === 0 ? 4 : 2, '0')).join('-');
}

/** Whether a text is a `YYYY-MM-DD` of the calendar. */
export function isCalendarDay(day: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/u.test(day)) return false;
  const noon = new Date(`${day}T12:00:00Z`);
  return !Number.isNaN(noon.getTime()) && noon.toISOString().startsWith(day);
}

/** Whether a date with the year first has a month that is none, such as `2027-13-01`: chrono-node turns it round. */
export function hasNoSuchMonth(date: string): boolean {
  return /^\d{4}\D(?:1[3-9]|[2-9]\d)\D/u.test(date);
}

/**
 * The calendar day so many days after a `YYYY-MM-DD`; 24 hours would be wrong where clocks change.
 * @throws {RangeError} when `day` is not a date.
 */
export function daysAfter(day: string, days: number): string {
  const noon = new Date(`${day}T12:00:00Z`);
  noon.setUTCDate(noon.getUTCDate() + days);
  return noon.toISOString().slice(0, 10);
}

/** 0 for a Sunday; `NaN` when `day` is not a date. */
export function weekdayOf(day: string): number {
  return new Date(`${day}T12:00:00Z`).getUTCDay();
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
const wallClocks = new Map<string, WallClock>();

/** A zone of no country, which is always so many minutes ahead of UTC: `UTC`, `UTC+05:30`, `UTC-02:00`. */
export function fixedZone(minutes: number): string {
  if (minutes === 0) return 'UTC';
  return `UTC${minutes < 0 ? '-' : '+'}${new Date(Math.abs(minutes) * 60_000).toISOString().slice(11, 16)}`;
}

/** In minutes, of what {@link fixedZone} names, which not every Node.js knows; `undefined` for other zones. */
export function offsetOfFixed(timeZone: string): number | undefined {
  const [found, sign = '', hour = 0, minute = 0] = /^UTC(?:([+-])(\d{2}):(\d{2}))?$/u.exec(timeZone) ?? [];
  return found === undefined ? undefined : Number(`${sign}1`) * (Number(hour) * 60 + Number(minute));
}

/**
 * For many moments of one zone.
 * @throws {RangeError} for an unknown zone; the result does for an invalid date.
 */
export function wallClockIn(timeZone: string): WallClock {
  const known = wallClocks.get(timeZone);
  if (known !== undefined) return known;
  // Also avoids the first format of `Intl`, which takes 20 ms and 8 MB: most servers have UTC.
  const offset = offsetOfFixed(timeZone);
  if (offset !== undefined) return (time) => new Date(time + offset * 60_000).toISOString().slice(0, 16);
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

/** A moment as Discord shows it to each reader, in their own time zone and language. */
export function discordTime(moment: Date, shown: 'd' | 'f' | 'F' | 't' | 'R'): string {
  return `<t:${Math.floor(moment.getTime() / 1000)}:${shown}>`;
}

/** Puts something else for each moment that a text marks as Discord does, `<t:1768471200:R>` [D8]. */
export function replaceMoments(text: string, by: (moment: Date, mark: string) => string): string {
  return text.replace(/<t:(-?\d{1,11})(?::[a-z])?>/giu, (mark, seconds: string) =>
    by(new Date(Number(seconds) * 1000), mark),
  );
}

/** A text for a model, which cannot read seconds since 1970: behind each mark stands its moment in this zone [D8]. */
export function withMomentsTold(text: string, timeZone: string): string {
  return replaceMoments(text, (moment, mark) => `${mark} (${localMoment(moment, timeZone)})`);
}

/** Milliseconds of computing before others have their turn. */
const sliceMs = 8;

/**
 * For work of many steps [L4]: await the returned function between them, so that the event loop is never held
 * for long. Say what may change meanwhile, and run parts one after the other: side by side they add up.
 */
export function createTimeSlice(): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    if (performance.now() - startedAt < sliceMs) return;
    await setImmediate();
    startedAt = performance.now();
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

export type Deadline = ReturnType<typeof startDeadline>;

/** A time limit and the caller's signal as one signal. */
export function startDeadline(limitMs: number, callerSignal?: AbortSignal) {
  const controller = new AbortController();
  const endsAt = performance.now() + limitMs;
  const timer = setTimeout(
    () => controller.abort(new ModelError(`No answer within ${limitMs} ms`, 'timeout')),
    limitMs,
  );
  const abort = (): void => controller.abort(new ModelError('The call was given up', 'aborted'));
  if (callerSignal?.aborted === true) abort();
  else callerSignal?.addEventListener('abort', abort, { once: true });
  return {
    /** Aborted with a `ModelError`: `timeout` or `aborted`. */
    signal: controller.signal,
    /** Milliseconds left, never negative. */
    remainingMs: (): number => Math.max(0, endsAt - performance.now()),
    end(): void {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', abort);
    },
  };
}

/**
 * Works until it succeeds. `pauseAfter` tells the milliseconds to wait after so many failures in a row, or throws what
 * ends it. After an abort the last failure is thrown.
 */
export async function retry<Result>(
  work: () => Promise<Result>,
  pauseAfter: (error: unknown, failures: number) => number,
  {
    signal,
    wait = delay,
  }: { readonly signal?: AbortSignal; readonly wait?: (ms: number) => Promise<void> } = {},
): Promise<Result> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (error) {
      const pauseMs = signal?.aborted === true ? undefined : pauseAfter(error, failures);
      if (pauseMs !== undefined) await unlessAborted(signal, wait(pauseMs)).catch(() => undefined);
      if (signal?.aborted === true) throw error;
    }
  }
}

/** Doubles with each failure, up to the longest. */
export function growingPause(failures: number, firstMs: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** (failures - 1), longestMs);
}

export const processTimer: Timer = (callback, ms) => {
  const timer = setTimeout(callback, ms);
  timer.unref();
  return () => clearTimeout(timer);
};

/** Resolves after so many milliseconds or on abort. Does not keep the process alive. */
export async function sleep(ms: number, signal: AbortSignal, timer = processTimer): Promise<void> {
  const over = new Promise<void>((resolve) => void timer(resolve, ms));
  await unlessAborted(signal, over).catch(() => undefined);
}

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
