/** Messages older than this are not answered any more after a gap [G3a]: 5 minutes, in milliseconds. */
export const catchUpWindowMs = 5 * 60_000;
