import type { Clock } from '../../core/time.ts';

/** Discord's ids count milliseconds since the first moment of 2015. */
const discordEpoch = 1_420_070_400_000n;
const timeShift = 22n;

/**
 * Makes Discord ids from a clock: each greater than the one before, also when the clock stands still or steps back, since
 * clients order messages by their ids.
 */
export function createSnowflakeSource(now: Clock): () => string {
  let last = 0n;
  return () => {
    const fromClock = snowflakeFloor(now());
    last = fromClock > last ? fromClock : last + 1n;
    return last.toString();
  };
}

/** The moment an id was made, in milliseconds since 1970. */
export function snowflakeTime(id: string): number {
  return Number((BigInt(id) >> timeShift) + discordEpoch);
}

function snowflakeFloor(moment: Date): bigint {
  const milliseconds = BigInt(moment.getTime()) - discordEpoch;
  if (milliseconds < 0n) throw new RangeError('Discord ids begin with the year 2015');
  return milliseconds << timeShift;
}
