import { DiscordSnowflake } from '@sapphire/snowflake';

/** The present moment, as an input, so that a test can hold time still. */
export type Clock = () => Date;

/**
 * Makes Discord ids from a clock: each greater than the one before, also when the clock stands still or steps back, since
 * clients order messages by their ids.
 */
export function createSnowflakeSource(now: Clock): () => string {
  let last = 0n;
  return () => {
    const timestamp = now();
    if (timestamp.getTime() < DiscordSnowflake.epochNumber) {
      throw new RangeError('Discord ids begin with the year 2015');
    }
    const fromClock = DiscordSnowflake.generate({ timestamp, increment: 0n, workerId: 0n, processId: 0n });
    last = fromClock > last ? fromClock : last + 1n;
    return last.toString();
  };
}
