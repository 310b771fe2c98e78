/** A sequence of numbers between 0 and 1 that depends on its seed alone. */
export function chanceOf(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
