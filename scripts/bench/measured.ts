import { median, print } from './recall-bench.ts';

/** One thing whose speed is asked, beside the least that could be done for it: its floor. */
export interface Measured {
  readonly name: string;
  readonly run: (round: number) => Promise<unknown>;
  readonly floorName: string;
  readonly floor: (round: number) => Promise<unknown>;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Takes turns between the thing and its floor, so that a busy machine slows both, and prints medians and their ratio. */
export async function measure({ name, run, floorName, floor }: Measured, rounds: number): Promise<void> {
  const times: number[] = [];
  const floorTimes: number[] = [];
  for (let round = -Math.ceil(rounds / 10); round < rounds; round += 1) {
    const floorTime = await timed(() => floor(round));
    const time = await timed(() => run(round));
    // The first rounds warm up.
    if (round < 0) continue;
    floorTimes.push(floorTime);
    times.push(time);
  }
  const [own, least] = [median(times), median(floorTimes)];
  print(
    `${name}: ${own.toFixed(2)} ms · ${floorName}: ${least.toFixed(2)} ms · ratio ${(own / least).toFixed(2)} (${rounds} rounds)`,
  );
}
