import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { mayUseItem } from '../../src/memory/durable/document.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';
import { runs } from '../support/runs.ts';

const otherPrivatePlace: Place = {
  ...privatePlace,
  channelId: '200000000000000004',
  homeId: '200000000000000004',
  channelName: 'attic',
};
/** Of another server. */
const foreignPlace: Place = {
  ...publicPlace,
  channelId: '200000000000000006',
  homeId: '200000000000000006',
  guildId: '300000000000000009',
  channelName: 'foyer',
};
const guildPlaces = [publicPlace, privatePlace, otherPrivatePlace, foreignPlace];
const place = fc.constantFrom(...guildPlaces, dmPlace);
const guildPlace = fc.constantFrom(...guildPlaces);

/** A command; numbers stand for the item said in that step before. */
const step = fc.oneof(
  fc.record({
    kind: fc.constant('remember' as const),
    where: place,
    speakerId: fc.constantFrom(aliceId, bobId),
  }),
  fc.record({
    kind: fc.constantFrom(
      'show' as const,
      'search' as const,
      'review' as const,
      'conversations' as const,
      'notebook' as const,
      'notebook file' as const,
      'forget all' as const,
      'forget nothing' as const,
      'help' as const,
    ),
    where: guildPlace,
  }),
  fc.record({
    kind: fc.constantFrom(
      'forget' as const,
      'share' as const,
      'hide' as const,
      'review still' as const,
      'review keep' as const,
    ),
    where: place,
    item: fc.nat({ max: 9 }),
  }),
);

describe('what commands answer in a guild', () => {
  it("never names anything that may not be used there, nor anything of another person's [V2]", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 4, maxLength: 16 }),
        fc.integer({ min: 2, max: 5 }),
        async (steps, maxItems) => {
          const { say, durable, rolling, store } = createHarness({ maxItems });
          const summary = { text: 'summary-of-the-dm', visibility: 'dm', homeId: dmPlace.homeId } as const;
          for (const { channelId } of guildPlaces) rolling.put({ channelId, userId: aliceId }, summary);
          await store.writeText(`users/${aliceId}/notebook/USER.md`, 'line-of-the-notebook');
          let count = 0;
          for (const each of steps) {
            const [own, others] = await Promise.all([durable.list(aliceId), durable.list(bobId)]);
            const forbidden = [
              ...others,
              ...own.filter((item) => !mayUseItem(item, aliceId, each.where)),
            ].map(({ text }) => text);
            const target = 'item' in each ? own[each.item % Math.max(1, own.length)]?.id : undefined;
            const words = {
              remember: `remember My best word is word-${(count += 1)}-of-mine`,
              review: 'review',
              conversations: 'conversations',
              notebook: 'notebook',
              'notebook file': 'notebook USER.md',
              'review still': `review still ${target}`,
              'review keep': `review keep ${target},${own[0]?.id}`,
              show: 'show',
              search: 'search word of mine',
              help: 'help',
              'forget all': 'forget word',
              'forget nothing': 'forget summary-of',
              forget: `forget ${target}`,
              share: `share ${target}`,
              hide: `hide ${target}`,
            }[each.kind];
            const speakerId = 'speakerId' in each ? each.speakerId : aliceId;
            const answer = await say(words, each.where, { speakerId });
            if (each.where.audience === 'dm' || speakerId !== aliceId) continue;
            for (const text of forbidden) expect(answer).not.toContain(text);
            expect(answer).not.toMatch(/summary-of-the-dm|line-of-the-notebook/u);
            expect(answer.replaceAll(`#${each.where.channelName}`, '')).not.toMatch(/#(?:hideout|attic)/u);
            const foreignName = each.where === foreignPlace ? publicPlace.channelName : 'foyer';
            expect(answer).not.toContain(`#${foreignName}`);
          }
        },
      ),
      { numRuns: runs(150) },
    );
  });
});
