import type { SessionKey } from '../../src/core/place.ts';
import type { Everybody } from '../../src/memory/sweeper.ts';

/** Whom a row of the sweeper looks through; what fails for one fails as a whole. */
export function everybodyIn(people: readonly string[], sessions: readonly SessionKey[] = []): Everybody {
  return {
    people: (work) => forEach(people, work),
    sessions: (work) => forEach(sessions, work),
    signal: new AbortController().signal,
  };
}

async function forEach<T>(all: readonly T[], work: (each: T) => Promise<unknown>): Promise<boolean> {
  for (const each of all) await work(each);
  return true;
}
