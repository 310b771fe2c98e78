import type { CacheLife, CachePrice } from '../core/model.ts';

/** How turns follow each other, and how long the vendor was asked to keep the latest. */
export interface Cadence {
  /** When the latest began, oldest first, in milliseconds since 1970. */
  readonly turns: readonly number[];
  /** `undefined` where nothing was marked. */
  readonly life: CacheLife | undefined;
}

/** Few, so that a new rhythm is soon known. */
const keptTurns = 12;

const lifeMs: Readonly<Record<CacheLife, number>> = { '5m': 5 * 60_000, '1h': 60 * 60_000 };

/** A pause, by which of the cache's lives covers it. */
type Pause = CacheLife | 'longer';
type Likelihood = Readonly<Record<Pause, number>>;

/** Weighs as one pause: people who write mostly write on. */
const prior: Likelihood = { '5m': 0.6, '1h': 0.1, longer: 0.3 };

/**
 * The cadence with a turn at `now`, and the marks that pay for it. What is still kept is always read, since a
 * request without marks reads nothing. Without a price, the marks are those that cost least in vain.
 */
export function nextCadence(
  previous: Cadence | undefined,
  now: number,
  price: CachePrice | undefined,
): Cadence {
  const turns = [...(previous?.turns ?? []), now].slice(-keptTurns);
  if (price === undefined) return { turns, life: '5m' };
  return { turns, life: cheapestLife(turns, price) ?? (isKept(previous, now) ? '5m' : undefined) };
}

/** Whether the vendor still keeps what went with the latest turn. */
export function isKept(cadence: Cadence | undefined, now: number): boolean {
  const last = cadence?.turns.at(-1);
  if (cadence?.life === undefined || last === undefined) return false;
  return now - last <= lifeMs[cadence.life];
}

export function longerLife(a: CacheLife | undefined, b: CacheLife | undefined): CacheLife | undefined {
  return a === '1h' || b === '1h' ? '1h' : (a ?? b);
}

/**
 * What stays the same is either read again or, after too long a pause, written again. So its average cost
 * depends on how likely the next turn comes in time.
 */
function cheapestLife(turns: readonly number[], price: CachePrice): CacheLife | undefined {
  const likely = likelihoodOfNext(turns);
  const cost = (life: CacheLife, inTime: number): number =>
    inTime * price.read + (1 - inTime) * price.write[life];
  const short = cost('5m', likely['5m']);
  const hour = cost('1h', likely['5m'] + likely['1h']);
  if (Math.min(short, hour) >= 1) return undefined;
  return hour < short ? '1h' : '5m';
}

/** By what followed pauses like the last one, and by all of them. */
function likelihoodOfNext(turns: readonly number[]): Likelihood {
  const pauses = turns.slice(1).map((turn, index) => pauseOf(turn - (turns[index] ?? turn)));
  const last = pauses.at(-1);
  const usual = blended(pauses, prior);
  return blended(
    pauses.filter((_, index) => index > 0 && pauses[index - 1] === last),
    usual,
  );
}

function pauseOf(ms: number): Pause {
  if (ms <= lifeMs['5m']) return '5m';
  return ms <= lifeMs['1h'] ? '1h' : 'longer';
}

/** Shares of what was seen, with the expectation counted as one more. */
function blended(seen: readonly Pause[], expected: Likelihood): Likelihood {
  const counts = { '5m': 0, '1h': 0, longer: 0 };
  for (const pause of seen) counts[pause] += 1;
  const share = (pause: Pause): number => (counts[pause] + expected[pause]) / (seen.length + 1);
  return { '5m': share('5m'), '1h': share('1h'), longer: share('longer') };
}
