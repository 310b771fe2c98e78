import { rm } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { contentOf, filesBelow, leaksIn, Scene, type Kills } from './changes-scene.ts';
import { anyStep, Conversation, places, stepsBefore, type DrawnStep } from './changes-steps.ts';

/** Milliseconds for so many sequences, with what it takes to make a failing one shorter. */
function timeFor(sequences: number): number {
  return sequences * 20_000;
}

const anyKills: fc.Arbitrary<Kills> = fc.record({
  at: fc.array(
    fc.noBias(fc.nat(999)).map((part) => part / 1000),
    { maxLength: 2 },
  ),
  isTorn: fc.boolean(),
});
const anySequence = fc.array(fc.record({ step: anyStep, kills: anyKills }), { minLength: 1, maxLength: 8 });

/** A conversation that has gone on for a while, with what was made of it in a folder. Every run begins with a copy. */
export async function openStart() {
  const conversation = new Conversation();
  const scene = await Scene.open();
  for (const step of stepsBefore) await scene.take(conversation.decide(step));
  await scene.close();
  const { folder } = scene;
  return {
    folder,
    words: conversation.present,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The conversation with these steps taken, and what they are about. */
function decideAll(drawn: readonly DrawnStep[]) {
  const conversation = new Conversation();
  for (const step of stepsBefore) conversation.decide(step);
  return { conversation, steps: drawn.map((step) => conversation.decide(step)) };
}

/**
 * Plays random sequences twice, with kills and without, and judges what is on disk then [F5][G5][S7]; resolves with how many kills there were.
 */
async function playChanges(sequences: number): Promise<number> {
  await using start = await openStart();
  let kills = 0;
  await fc.assert(
    fc.asyncProperty(anySequence, async (drawn) => {
      const { conversation, steps } = decideAll(drawn.map(({ step }) => step));
      await using whole = await Scene.open(start.folder, stepsBefore.length);
      await using killed = await Scene.open(start.folder, stepsBefore.length);
      for (const [index, step] of steps.entries()) {
        const operations = await whole.take(step);
        await killed.take(step, drawn[index]?.kills, operations);
      }
      kills += killed.kills;
      const expected = await judge(whole, conversation.removed);
      const content = await judge(killed, conversation.removed);
      expect(content).toEqual(expected);
    }),
    { numRuns: sequences },
  );
  return kills;
}

const anyTrouble = fc.constantFrom(
  undefined,
  'durable.json',
  'short-term',
  'state.json',
  'overview.md',
  'detail',
);

/** Plays random sequences in which the disk refuses some layers' files now and then; the next start finishes what could not be done [F5][G5][S7]. */
async function playTroubles(sequences: number): Promise<void> {
  await using start = await openStart();
  const anyTroubled = fc.array(fc.record({ step: anyStep, trouble: anyTrouble }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(anyTroubled, async (drawn) => {
      const { conversation, steps } = decideAll(drawn.map(({ step }) => step));
      await using scene = await Scene.open(start.folder, stepsBefore.length);
      for (const [index, step] of steps.entries()) {
        const trouble = drawn[index]?.trouble;
        await (trouble === undefined ? scene.take(step) : scene.takeInTrouble(step, trouble));
      }
      await scene.restart();
      await judge(scene, conversation.removed);
    }),
    { numRuns: sequences },
  );
}

/** Nothing is to be done any more, and what was taken back is neither found nor anywhere on disk. Resolves with what is. */
async function judge(scene: Scene, removed: readonly string[]) {
  const found = await Promise.all(places.map((place) => scene.search(removed.join(' '), place)));
  const files = filesBelow(scene.folder);
  const content = contentOf(files);
  expect({
    found: removed.filter((word) => found.some((text) => text.includes(word))),
    leaks: leaksIn(files, removed),
    unfinished: Object.keys(content).filter((path) => path.startsWith('data/changes/')),
  }).toEqual({ found: [], leaks: [], unfinished: [] });
  return content;
}

/** The property for so many random sequences of each kind: few for every run, many for the soak. */
export function describeChanges(sequences: number): void {
  describe(`${sequences} sequences of changes`, { timeout: timeFor(sequences) }, () => {
    it('end in the same content with kills and without, and leave nothing on disk of what an edit or deletion took out [F5][G5][S7]', async () => {
      // Without kills there would be nothing to be seen.
      expect(await playChanges(sequences)).toBeGreaterThan(sequences);
    });

    it('leave nothing on disk of what an edit or deletion took out while the disk refused a layer, after a restart [F5][G5][S7]', async () => {
      await expect(playTroubles(sequences)).resolves.toBeUndefined();
    });
  });
}
