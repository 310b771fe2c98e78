import { LRUCache } from 'lru-cache';

import { localDate } from '../../core/time.ts';

/** The local day of a moment: `YYYY-MM-DD` [N5]. */
export type DateOf = (date: Date) => string;

/** Local days in one time zone that are worked out once: a prompt asks for the same two hundred at every turn. */
export function createLocalDates(timeZone: string, max = 10_000): DateOf {
  const known = new LRUCache<number, string>({ max });
  return (date) => {
    const time = date.getTime();
    const found = known.get(time);
    if (found !== undefined) return found;
    const day = localDate(date, timeZone);
    known.set(time, day);
    return day;
  };
}
