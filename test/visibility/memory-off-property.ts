import fc from 'fast-check';
import { expect } from 'vitest';

import { roomNames, SwitchedScene } from './switched-scene.ts';

const speaker = fc.constantFrom('alice' as const, 'bob' as const);
const room = fc.constantFrom(...roomNames);

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('tell' as const), speaker, room }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remember' as const), speaker, room }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('tellAsItIsSwitchedOff' as const), speaker, room }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('settings' as const),
      room,
      words: fc
        .tuple(fc.constantFrom('on', 'off', 'default'), fc.constantFrom('', ' server'))
        .map(([value, scope]) => `memory ${value}${scope}`),
    }),
  },
);

/** So many random scenes. Rejects where anything is kept or used while memory is off; resolves with how often it was while it was on. */
export async function playSwitchedScenes(count: number) {
  let writtenWhileOn = 0;
  let givenWhileOn = 0;
  const scenes = fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
    const scene = new SwitchedScene();
    for (const each of steps) {
      if (each.do === 'settings') await scene.settings(each.room, each.words);
      else await scene[each.do](each.speaker, each.room);
    }
    await scene.close();
    expect(scene.faults).toEqual([]);
    writtenWhileOn += scene.writtenWhileOn;
    givenWhileOn += scene.givenWhileOn;
  });
  await fc.assert(scenes, { numRuns: count });
  return { writtenWhileOn, givenWhileOn };
}
