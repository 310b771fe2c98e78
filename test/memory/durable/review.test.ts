import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { DurableItem } from '../../../src/memory/durable/document.ts';
import { reviewCards } from '../../../src/memory/durable/review.ts';
import { item, noon } from './fixtures.ts';

const dayMs = 24 * 60 * 60_000;
const daysAgo = (days: number): string => new Date(noon.getTime() - days * dayMs).toISOString();
const daysLater = (days: number): Date => new Date(noon.getTime() + days * dayMs);

function said(text: string, changes: Partial<DurableItem> = {}): DurableItem {
  const days = changes.createdAt ?? daysAgo(1);
  return item({
    id: text.toLowerCase().replaceAll(/\W/gu, '-').slice(0, 24),
    text,
    createdAt: days,
    updatedAt: days,
    ...changes,
  });
}

/** The reason of each card, and the words that it shows. */
async function asked(items: readonly DurableItem[], now = noon): Promise<readonly string[]> {
  const cards = await reviewCards(items, now, '2026-01-15');
  return cards.map(({ reason, items: shown }) => [reason, ...shown.map(({ text }) => text)].join(': '));
}

describe('what there is to review [K16]', () => {
  it('is what is over, then pairs with the newer one first, then the oldest that nobody has confirmed', async () => {
    const items = [
      said('I keep bees', { createdAt: daysAgo(40) }),
      said('I drink tea', { createdAt: daysAgo(90) }),
      said('I live in Porto', { createdAt: daysAgo(300) }),
      said('I live in Lisbon'),
      said('My driving test is tomorrow', { when: '2026-01-02' }),
    ];
    expect(await asked(items)).toEqual([
      'over: My driving test is tomorrow',
      'pair: I live in Lisbon: I live in Porto',
      'unconfirmed: I drink tea',
      'unconfirmed: I keep bees',
    ]);
  });

  it('is nothing by itself that is pinned, or was said or changed of late', async () => {
    expect(
      await asked([
        said('I keep bees', { createdAt: daysAgo(400), pinned: true }),
        said('I drink tea', { createdAt: daysAgo(400), updatedAt: daysAgo(3) }),
      ]),
    ).toEqual([]);
  });

  it('is for half a year nothing that was confirmed, but what was said against it since', async () => {
    const confirmed = { createdAt: daysAgo(400), confirmedAt: daysAgo(0) };
    const items = [
      said('I live in Porto', confirmed),
      said('I keep bees', confirmed),
      said('The rent is due on Friday', { ...confirmed, when: '2025-12-12' }),
    ];
    for (const days of [0, 1, 182]) expect(await asked(items, daysLater(days))).toEqual([]);
    expect(await asked(items, daysLater(184))).toHaveLength(3);
    const both = [...items, said('I live in Lisbon', confirmed)];
    expect(await asked(both, daysLater(1))).toEqual([]);
    const since = [...items, said('I live in Lisbon', { createdAt: daysLater(1).toISOString() })];
    expect(await asked(since, daysLater(2))).toEqual(['pair: I live in Lisbon: I live in Porto']);
  });

  it('never has an item twice, nor one that was confirmed within half a year and has nothing newer beside it', async () => {
    const word = fc.constantFrom(
      'I live in Porto',
      'I live in Lisbon',
      'I work at Acme',
      'I work at Bosch',
      'I keep bees',
      'Tea',
    );
    const some = fc.record({
      text: word,
      age: fc.nat(500),
      confirmed: fc.option(fc.nat(400)),
      pinned: fc.boolean(),
      isPast: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(some, { maxLength: 12 }), async (drawn) => {
        const items = drawn.map(({ text, age, confirmed, pinned, isPast }, index) =>
          said(text, {
            id: `item-${index}`,
            createdAt: daysAgo(age),
            confirmedAt: confirmed === null ? undefined : daysAgo(Math.min(confirmed, age)),
            pinned,
            when: isPast ? '2026-01-01' : undefined,
          }),
        );
        const cards = await reviewCards(items, noon, '2026-01-15');
        const ids = cards.flatMap(({ items: shown }) => shown.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        for (const { items: shown } of cards)
          for (const { confirmedAt } of shown.filter((each) => (each.confirmedAt ?? '') > daysAgo(180)))
            expect(shown.some(({ createdAt }) => createdAt > (confirmedAt ?? ''))).toBe(true);
      }),
    );
  });
});
