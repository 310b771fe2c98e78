import { parseArgs } from 'node:util';

import { simulate } from '../test/simulator/simulation.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seeds: { type: 'string', default: '1' },
    steps: { type: 'string', default: '300' },
    people: { type: 'string', default: '5' },
    trace: { type: 'boolean', default: false },
  },
});
const first = Number(values.seed);
const [seeds, steps, people] = [Number(values.seeds), Number(values.steps), Number(values.people)];
let failed = 0;
for (let seed = first; seed < first + seeds; seed += 1) {
  const began = process.hrtime.bigint();
  const result = await simulate({
    seed,
    steps,
    people,
    ...(values.trace && { trace: (line: string) => console.log(line) }),
  });
  const seconds = Number(process.hrtime.bigint() - began) / 1e9;
  const { hash, failure } = result;
  console.log(
    `seed ${seed}  ${result.steps} steps  ${(result.elapsedMs / 3_600_000).toFixed(1)} h  ${(result.steps / seconds).toFixed(0)} steps/s  hash ${hash.slice(0, 16)}`,
  );
  if (failure !== undefined) {
    failed += 1;
    console.log(`  broken at step ${failure.step}: ${failure.promise}: ${failure.detail}`);
  }
}
process.exit(failed > 0 ? 1 : 0);
