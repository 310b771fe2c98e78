/** A Discord id: 15 to 21 decimal digits. Whatever becomes part of a storage key must be one [S6]. */
export function isSnowflake(text: string): boolean {
  return /^[0-9]{15,21}$/.test(text);
}

/** @throws {RangeError} when `text` is not a Discord id. */
export function assertSnowflake(text: string): string {
  if (!isSnowflake(text)) throw new RangeError(`Not a Discord id: ${JSON.stringify(text.slice(0, 40))}`);
  return text;
}

/** Orders two snowflakes by age (older first): negative, zero or positive. */
export function compareSnowflakes(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Milliseconds between the Unix epoch and Discord's, the first second of 2015. */
const discordEpochMs = 1_420_070_400_000n;

/** When a Discord id was made. */
export function snowflakeTime(id: string): Date {
  return new Date(Number((BigInt(assertSnowflake(id)) >> 22n) + discordEpochMs));
}

/** The smallest id that can have been made at `time`. */
export function snowflakeAt(time: Date): string {
  return ((BigInt(time.getTime()) - discordEpochMs) << 22n).toString();
}
