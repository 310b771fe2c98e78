import fc from 'fast-check';
import { expect } from 'vitest';

import { memoryInProcess, Scene, type SceneMemory } from './scene.ts';

const speaker = fc.constantFrom('alice' as const, 'bob' as const);
const place = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.constantFrom(
      'hall' as const,
      'office' as const,
      'thread' as const,
      'backroom' as const,
      'dm' as const,
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom('lounge' as const, 'cellar' as const) },
);
const where = { speaker, place };
const room = fc.constantFrom('hall' as const, 'office' as const);
const door = fc.oneof(
  { weight: 3, arbitrary: fc.constant('open' as const) },
  { weight: 1, arbitrary: fc.constant('unknown' as const) },
  { weight: 6, arbitrary: fc.subarray(['crew' as const, 'staff' as const, 'guests' as const]) },
);

const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('tell' as const), ...where }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('ask' as const), ...where }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remember' as const), ...where }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('show' as const), ephemeral: fc.boolean(), ...where }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('note' as const), ...where }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('channel' as const, 'undo' as const), ...where }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), ...where }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('share' as const, 'hide' as const), ...where }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), ...where }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('door' as const), room, door }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('restrictAges' as const), isRestricted: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('memberRole' as const),
      role: fc.constantFrom('crew' as const, undefined),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('tellAsDoorTurns' as const),
      room,
      door,
      at: fc.constantFrom('waiting' as const, 'thinking' as const, 'answering' as const),
      ...where,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 400 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

async function take(scene: Scene, each: Step): Promise<void> {
  switch (each.do) {
    case 'tell':
    case 'ask':
    case 'remember':
    case 'note':
      return scene[each.do](each.speaker, each.place);
    case 'tellAsDoorTurns':
      return scene.tellAsDoorTurns(each.speaker, each.place, each.room, each.door, each.at);
    case 'show':
      await scene.command(each.speaker, each.place, 'show', each.ephemeral);
      return;
    case 'channel':
    case 'undo':
      await scene.command(each.speaker, each.place, each.do);
      return;
    case 'forget':
      await scene.command(each.speaker, each.place, 'forget lunch');
      return;
    case 'share':
    case 'hide':
      return scene.changeVisibility(each.speaker, each.place, each.do);
    case 'reset':
      await scene.command(each.speaker, each.place, 'reset rolling');
      return;
    case 'door':
      scene.turnDoor(each.room, each.door);
      return;
    case 'restrictAges':
      scene.restrictAges(each.isRestricted);
      return;
    case 'memberRole':
      scene.nameMemberRole(each.role);
      return;
    case 'wait':
      scene.wait(each.minutes);
  }
}

interface Play {
  /** Of each scene. Default: in this process. */
  readonly openMemory?: () => Promise<SceneMemory>;
  /** Scenes that are played beside each other, where memory is waited for. Default: 1. */
  readonly atOnce?: number;
  /** Default: that of all properties, if they have one. */
  readonly seed?: number | undefined;
}

/**
 * Plays random scenes. Rejects if anything turns up where it may not; resolves with how often memory and notes of
 * others were rightly used [B2].
 */
export async function playScenes(
  count: number,
  { openMemory = memoryInProcess, atOnce = 1, seed = fc.readConfigureGlobal().seed }: Play = {},
): Promise<{ readonly rightlyUsed: number; readonly notesUsed: number }> {
  let rightlyUsed = 0;
  let notesUsed = 0;
  const scenes = fc.asyncProperty(
    fc.array(step, { minLength: 5, maxLength: 14 }),
    fc.boolean(),
    fc.boolean(),
    async (steps, withHistory, withNotes) => {
      await using memory = await openMemory();
      const scene = new Scene({ memory, withHistory, withNotes });
      await scene.begin();
      for (const each of steps) await take(scene, each);
      await scene.end();
      rightlyUsed += scene.rightlyUsed;
      notesUsed += scene.notesUsed;
      expect(scene.leaks).toEqual([]);
    },
  );
  const rows = Array.from({ length: atOnce }, (_, index) =>
    fc.assert(scenes, {
      numRuns: Math.ceil(count / atOnce),
      // Each row has others.
      ...(seed === undefined ? {} : { seed: seed + index }),
    }),
  );
  await Promise.all(rows);
  return { rightlyUsed, notesUsed };
}
