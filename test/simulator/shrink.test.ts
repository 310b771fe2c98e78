import { describe, expect, it } from 'vitest';

import { sceneText, shrink } from './shrink.ts';
import type { Step } from './steps.ts';

const promise = 'one reply a message';

function say(luck: number): Step {
  return { luck, pauseMs: 700, kind: 'say', person: 6, channel: 30 };
}

/** Forty steps of which two matter. */
const scene = Array.from({ length: 40 }, (_, index) => say(index));

/** Breaks a promise as soon as the steps with these lucks have happened. */
function breakingAfter(lucks: readonly number[], broken = promise) {
  return ({ people, scene: steps }: { readonly people: number; readonly scene: readonly Step[] }) => {
    const step = steps.findIndex((_, at) =>
      lucks.every((luck) => steps.slice(0, at + 1).some((each) => each.luck === luck)),
    );
    const isBroken = step !== -1 && people > 1;
    return Promise.resolve(isBroken ? { failure: { promise: broken, detail: 'so', step } } : {});
  };
}

describe('a scene that breaks a promise', () => {
  it('is made smaller to the steps, the people and the numbers that it takes', async () => {
    const small = await shrink({
      simulate: breakingAfter([3, 21]),
      seed: 1,
      people: 7,
      scene,
      promise,
      maxRuns: 300,
    });
    expect(small).toMatchObject({
      people: 2,
      steps: [3, 21].map((luck) => ({ ...say(luck), pauseMs: 0, person: 0, channel: 0 })),
    });
    expect(small?.runs).toBeLessThan(100);
  });

  it('is not taken for one that breaks another promise', async () => {
    const first = breakingAfter([3, 21]);
    const second = breakingAfter([21], 'messages fit');
    const small = await shrink({
      simulate: async (run) => {
        const whole = await first(run);
        return whole.failure === undefined ? second(run) : whole;
      },
      seed: 1,
      people: 7,
      scene,
      promise,
      maxRuns: 300,
    });
    expect(small?.steps.map(({ luck }) => luck)).toEqual([3, 21]);
  });

  it('is as small as it got when the runs are used up', async () => {
    let runs = 0;
    const small = await shrink({
      simulate: (run) => {
        runs += 1;
        return breakingAfter([3, 21])(run);
      },
      seed: 1,
      people: 7,
      scene,
      promise,
      maxRuns: 10,
    });
    expect(small?.steps.map(({ luck }) => luck)).toEqual(expect.arrayContaining([3, 21]));
    expect(small?.steps.length).toBeLessThan(40);
    expect(runs).toBe(10);
  });

  it('is told apart from one that does not break it again', async () => {
    const small = await shrink({
      simulate: () => Promise.resolve({}),
      seed: 1,
      people: 7,
      scene,
      promise,
      maxRuns: 300,
    });
    expect(small).toBeUndefined();
  });

  it('is printed as a call with one line per step', () => {
    expect(sceneText(5, { people: 2, steps: [{ luck: 9, pauseMs: 0, kind: 'quiet' }] })).toBe(
      'simulate({ seed: 5, people: 2, steps: 1, scene: [\n  {"kind":"quiet","luck":9,"pauseMs":0},\n] })',
    );
  });
});
