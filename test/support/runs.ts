/** Of all that is tried at random: 0.2 in `npm test`, 1 in `npm run test:all`, which CI runs beside it, and 3 in `npm run test:long`. */
const factor = Number(process.env['FC_RUNS'] ?? 0.2);

/** How many examples are tried, of so many with `FC_RUNS=1`; `few` in `npm test`, of what takes long and the simulator tries too. */
export function runs(count: number, few?: number): number {
  return factor < 1 && few !== undefined ? few : Math.max(1, Math.round(count * factor));
}

/** Another one each day, so that the days try more than one of them. */
export const seedOfTheDay = Math.floor(Date.now() / 86_400_000);

/** All of them with `FC_RUNS=1`; about `few` in `npm test`, spread over all, other ones each day. */
export function ofTheDay<Value>(all: readonly Value[], few: number): readonly Value[] {
  const step = factor < 1 ? Math.ceil(all.length / few) : 1;
  return all.filter((_, index) => index % step === seedOfTheDay % step);
}
