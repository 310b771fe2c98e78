import fc from 'fast-check';
import { expect } from 'vitest';

import { verbs } from './obedient-model.ts';
import { enclosures, ObedientScene, type Wish } from './obedient-scene.ts';

const speaker = fc.constantFrom('alice' as const, 'bob' as const);
const room = fc.constantFrom('general' as const, 'secret' as const, 'dm' as const);
const verb = fc.constantFrom('store' as const, 'reveal' as const, ...verbs);
const enclosure = fc.constantFrom('nothing' as const, ...enclosures);
const brought = { speaker, room, enclosure, verb };

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('chat' as const),
      author: fc.constantFrom('alice' as const, 'bob' as const, 'mallory' as const),
      room: fc.constantFrom('general' as const, 'secret' as const),
      verb,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constantFrom('tell' as const, 'ask' as const), ...brought }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('wish' as const),
      wish: fc.constantFrom<Wish[]>('pin', 'react', 'send', 'forget', 'forget'),
      ...brought,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('asks' as const),
      speaker,
      room,
      enclosure: fc.constantFrom('nothing' as const, 'file' as const),
      verb,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remember' as const), speaker, room }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('note' as const), speaker, verb }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.integer({ min: 1, max: 400 }) }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Rare by chance: somebody has an item of their own forgotten, and nobody orders anything. */
const forgetsItsOwn: Step[] = [
  { do: 'remember', speaker: 'alice', room: 'dm' },
  { do: 'wish', wish: 'forget', speaker: 'alice', room: 'dm', enclosure: 'nothing', verb: 'pin' },
];

/** With something of each kind of memory, somebody asks alone in a public channel; then both talk there. */
const asksInPublic: Step[] = [
  { do: 'remember', speaker: 'alice', room: 'dm' },
  { do: 'remember', speaker: 'alice', room: 'secret' },
  { do: 'remember', speaker: 'alice', room: 'general' },
  { do: 'asks', speaker: 'alice', room: 'general', enclosure: 'nothing', verb: 'reveal' },
  { do: 'tell', speaker: 'bob', room: 'general', enclosure: 'nothing', verb: 'reveal' },
  { do: 'tell', speaker: 'alice', room: 'general', enclosure: 'nothing', verb: 'reveal' },
];

/** Rare by chance: somebody talks on until a summary with others' orders is shown. */
const talksOn: Step[] = [
  { do: 'ask', speaker: 'alice', room: 'general', enclosure: 'card', verb: 'send' },
  { do: 'wish', wish: 'forget', speaker: 'alice', room: 'general', enclosure: 'card', verb: 'pin' },
  { do: 'tell', speaker: 'alice', room: 'general', enclosure: 'name', verb: 'send' },
  { do: 'wish', wish: 'pin', speaker: 'bob', room: 'dm', enclosure: 'reply', verb: 'thread' },
  { do: 'tell', speaker: 'alice', room: 'general', enclosure: 'name', verb: 'read' },
];

async function take(scene: ObedientScene, each: Step): Promise<void> {
  switch (each.do) {
    case 'chat':
      return scene.chat(each.author, each.room, each.verb);
    case 'tell':
    case 'ask':
      return scene[each.do](each.speaker, each.room, each.enclosure, each.verb);
    case 'wish':
      return scene.wish(each.speaker, each.room, each.wish, each.enclosure, each.verb);
    case 'asks':
      return scene.asks(each.speaker, each.room, each.enclosure, each.verb);
    case 'remember':
      return scene.remember(each.speaker, each.room);
    case 'note':
      return scene.note(each.speaker, each.verb);
    case 'wait':
      scene.wait(each.minutes);
  }
}

/**
 * So many random scenes with a model that obeys everybody. Rejects where anything was stored, done, forgotten or told that may not be; resolves
 * with how often that rightly happened, and how many orders came before the model by which way.
 */
export async function playObedientScenes(
  count: number,
  seed = fc.readConfigureGlobal().seed,
): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 7 }), async (steps) => {
      const scene = new ObedientScene();
      for (const each of steps) await take(scene, each);
      await scene.judgeKept();
      await scene.close();
      for (const [what, times] of [...Object.entries(scene.rightly), ...scene.orders])
        counts.set(what, (counts.get(what) ?? 0) + times);
      expect(scene.violations).toEqual([]);
    }),
    {
      numRuns: count,
      examples: [[forgetsItsOwn], [asksInPublic], [talksOn]],
      ...(seed !== undefined && { seed }),
    },
  );
  return counts;
}

/** What happened less often than that. A bot that does nothing, and a model that is ordered nothing, would never do wrong. */
export function rarerThan(least: number, counts: ReadonlyMap<string, number>): readonly string[] {
  return [...counts].filter(([, times]) => times < least).map(([what, times]) => `${what}: ${times}`);
}
