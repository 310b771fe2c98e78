import fc from 'fast-check';
import { expect, it } from 'vitest';

import { repeatingModel } from './sequence-model.ts';
import { SequenceScene } from './sequence-scene.ts';
import { anySteps } from './sequence-steps.ts';
import { openStage } from './stage.ts';

/** Random sequences; more of them in the long campaign. */
const sequences = Number(process.env['PROPERTY_SEQUENCES'] ?? 3);
/** Milliseconds for one, and in all for making a failing one shorter. */
const longestMs = 300_000;
const shrinkMs = 900_000;

it(
  'gives each message one reply at most, and none to a deleted one, of which no memory is left, whatever happens in which order [G3][G5]',
  { timeout: sequences * longestMs + shrinkMs },
  async () => {
    await using stage = await openStage({
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
    // A bot that said nothing would leave nothing to be found.
    expect(stage.model.requests.length).toBeGreaterThan(scenes * 4);
  },
);
