/** Everything random in a simulation. The same seed gives the same sequence on every machine. */
export interface Random {
  /** From 0 up to 1. */
  readonly next: () => number;
  /** An integer from `low` to `high`, both included. */
  readonly int: (low: number, high: number) => number;
  readonly chance: (probability: number) => boolean;
  /** @throws {RangeError} for an empty list. */
  readonly pick: <T>(list: readonly T[]) => T;
  /** One of the keys, each as often as its weight says. */
  readonly weighted: <Key extends string>(weights: Readonly<Record<Key, number>>) => Key;
}

/** Mulberry32: 32 bits of state, which is plenty to try things out. */
export function createRandom(seed: number): Random {
  // oxlint-disable no-bitwise -- the generator is defined on 32-bit words
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) / 4_294_967_296;
  };
  // oxlint-enable no-bitwise
  const int = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick(list) {
      const picked = list[int(0, list.length - 1)];
      if (picked === undefined) throw new RangeError('Nothing to pick from');
      return picked;
    },
    weighted<Key extends string>(weights: Readonly<Record<Key, number>>): Key {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the record
      const keys = Object.keys(weights) as Key[];
      let left = next() * keys.reduce((sum, key) => sum + weights[key], 0);
      for (const key of keys) {
        left -= weights[key];
        if (left < 0) return key;
      }
      throw new RangeError('Nothing to pick from');
    },
  };
}

/** A seed for a part of a simulation, such as one step of it. */
export function seedOf(seed: number, part: number): number {
  return Math.floor(createRandom(Math.imul(seed, 0x9e3779b1) + part).next() * 4_294_967_296);
}
