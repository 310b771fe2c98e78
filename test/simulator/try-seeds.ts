import { loadSimulator } from './bundle.ts';
import { sceneText, shrink } from './shrink.ts';

const run = { people: 5, steps: 300 };
/** Simulations that a scene is made smaller by. */
const maxRuns = 200;

/** Of so many seeds those that break a promise, as texts that say how, with the smallest scene that does. Ends with the first three. */
export async function trySeeds({
  from,
  count,
}: {
  readonly from: number;
  readonly count: number;
}): Promise<readonly string[]> {
  const { simulate } = await loadSimulator();
  const broken: string[] = [];
  for (let seed = from; seed < from + count && broken.length < 3; seed += 1) {
    const { failure, scene } = await simulate({ ...run, seed });
    if (failure === undefined) continue;
    const { promise, detail, step } = failure;
    const { people } = run;
    const small = await shrink({ simulate, seed, people, scene: scene.slice(0, step + 1), promise, maxRuns });
    broken.push(
      `npm run simulate -- --seed ${seed}: ${promise}: ${detail}\n${small === undefined ? 'It could not be repeated.' : sceneText(seed, small)}`,
    );
  }
  return broken;
}
