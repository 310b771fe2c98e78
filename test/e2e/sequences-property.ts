import fc from 'fast-check';
import { expect } from 'vitest';

import { repeatingModel } from './sequence-model.ts';
import { SequenceScene } from './sequence-scene.ts';
import { anySteps } from './sequence-steps.ts';
import { openStage } from './stage.ts';

/** Milliseconds for one sequence, on a machine that is busy with other things. */
const longestMs = 300_000;

/** Milliseconds for so many sequences, and for making a failing one shorter. */
export function timeFor(sequences: number): number {
  return (sequences + 3) * longestMs;
}

/**
 * So many random sequences. Rejects unless each message gets one reply at most, and a deleted one none and leaves nothing in memory;
 * resolves with how often the model was asked in each.
 */
export async function playSequences(sequences: number): Promise<number> {
  await using stage = await openStage({
    isBuilt: true,
    environment: {
      DISCORD_AUTO_REPLY_CHANNEL_IDS: '',
      DISCOCLAW_SUMMARY_EVERY_N_TURNS: '2',
      DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
      DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
      DISCOCLAW_REFLECTION_IDLE_MINUTES: '0',
    },
    model: repeatingModel,
  });
  let scenes = 0;
  await fc.assert(
    fc.asyncProperty(anySteps, async (steps) => {
      scenes += 1;
      const scene = await SequenceScene.open(stage, scenes);
      for (const step of steps) await scene.take(step);
      expect(await scene.judge()).toEqual([]);
    }),
    { numRuns: sequences, interruptAfterTimeLimit: sequences * longestMs },
  );
  return stage.model.requests.length / scenes;
}
