import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../../src/core/place.ts';
import { mayUse } from '../../../src/core/visibility.ts';
import { reachOfItem, type DurableItem } from '../../../src/memory/durable/document.ts';
import { changeDocument, readItemsUndo, reverted } from '../../../src/memory/durable/undoing.ts';
import { formerItems } from '../../../src/memory/durable/items.ts';
import { mergeItems, nearDuplicateOf } from '../../../src/memory/durable/edit-items.ts';
import { aliceId, anyItems, anyPlace, board, dev, dm, documentOf, item, minutesLater, source, team } from './fixtures.ts'; // prettier-ignore

const later = minutesLater(60);

function isUsable(some: DurableItem, where: Place): boolean {
  return mayUse({ ownerId: aliceId, ...reachOfItem(some) }, where, aliceId);
}

function near(newer: string, ...older: readonly string[]): string | undefined {
  const items = older.map((text, index) => item({ id: `0000000${index}`, text }));
  const said = item({ id: 'ffffffff', text: newer });
  return nearDuplicateOf(said, [...items, said], aliceId, dev)?.text;
}

describe('what says nearly the same [K8]', () => {
  it.each([
    ['I keep bees and hens', 'Keeps bees'],
    ['My little sister is called Anna', 'My sister is called Anna'],
    ['Vegetarian!', 'is vegetarian'],
    ['Works at Acme in Porto as an engineer', 'Works at Acme in Porto'],
    ['東京に住んでいます。', '東京に住んでいますよ'],
  ])('is found: %s, %s', (newer, older) => {
    expect(near(newer, 'Plays chess', older)).toBe(older);
  });

  it.each([
    ['I have a cat called Tom', 'I have a dog called Tom'],
    ['Likes green tea', 'Likes black tea'],
    ['Likes tea', 'Likes tea with oat milk on Sunday mornings in the garden'],
    ['Likes tea, lives in Porto, plays chess and keeps bees', 'Likes tea'],
    ['Lives in Porto', 'Lives in Lisbon'],
    ['🎉🎉', '🎉'],
  ])('is not found: %s, %s', (newer, older) => {
    expect(near(newer, older)).toBeUndefined();
  });

  it('is the closest of several, and never one that may not be used in the place, or is history', () => {
    expect(near('Keeps bees and hens', 'Keeps bees', 'Keeps hens and bees there')).toBe(
      'Keeps hens and bees there',
    );
    const said = item({ id: 'ffffffff', text: 'Keeps bees and hens' });
    const hidden = item({ text: 'Keeps bees', visibility: 'dm' });
    const past = item({ id: 'eeeeeeee', text: 'Keeps bees', status: 'deprecated' });
    expect(nearDuplicateOf(said, [hidden, past, said], aliceId, dev)).toBeUndefined();
    expect(nearDuplicateOf(said, [hidden, past, said], aliceId, dm)).toBe(hidden);
  });
});

describe('merging two items [K8]', () => {
  const older = item({ text: 'Keeps bees', pinned: true, source: source({ messageId: '1' }) });
  const newer = item({
    id: 'bbbbbbbb',
    kind: 'fact',
    text: 'Keeps bees and hens',
    source: source({ messageId: '2' }),
  });

  it('keeps id, pin and beginning of the older one, the newer one’s words, and where both are from', () => {
    const { document, result } = mergeItems(
      documentOf(older, newer),
      aliceId,
      { id: newer.id, into: older.id, place: dev },
      later,
    );
    const merged = { ...older, text: newer.text, source: newer.source, updatedAt: later.toISOString() };
    expect(result).toEqual({ item: merged, before: older });
    expect(document.items).toEqual([
      merged,
      { ...older, id: expect.any(String), status: 'deprecated', pinned: false, supersededBy: older.id, updatedAt: later.toISOString() },
    ]); // prettier-ignore
  });

  it('does nothing with one that is gone, may not be used there, or is the same', () => {
    const document = documentOf(older, newer, item({ id: 'cccccccc', visibility: 'dm' }));
    for (const [id, into] of [[newer.id, 'dddddddd'], ['cccccccc', older.id], [newer.id, 'cccccccc'], [newer.id, newer.id]] as const) {
      const change = mergeItems(document, aliceId, { id, into, place: dev }, later);
      expect(change.result).toEqual({});
      expect(change.document).toBe(document);
    } // prettier-ignore
  });

  it('loses no item but the one merged, widens nobody’s words, and is undone whole', () => {
    fc.assert(
      fc.property(anyItems, anyPlace, fc.nat(), fc.nat(), (items, place, a, b) => {
        const [one, other] = [items[a % items.length], items[b % items.length]];
        if (one === undefined || other === undefined) return;
        // Some of the history is the newer one's.
        const linked = items.map((each): DurableItem =>
          each.status === 'deprecated' ? { ...each, supersededBy: one.id } : each,
        );
        const document = documentOf(...linked);
        const change = mergeItems(document, aliceId, { id: one.id, into: other.id, place }, later);
        const merged = change.result.item;
        expect(merged === undefined ? change.document : document).toBe(document);
        if (merged === undefined) return;
        const after = change.document.items;
        const untouched = linked.filter(
          ({ id, status }) => status === 'active' && id !== one.id && id !== other.id,
        );
        expect(after.filter(({ id, status }) => status === 'active' && id !== other.id)).toEqual(untouched);
        const past = formerItems(after).get(other.id) ?? [];
        const kept = [
          ...(formerItems(linked).get(one.id) ?? []),
          ...(formerItems(linked).get(other.id) ?? []),
          other,
        ];
        expect(past.map(({ text }) => text).toSorted()).toEqual(kept.map(({ text }) => text).toSorted());
        for (const each of [merged, ...past]) {
          const before = linked.filter(({ text }) => text === each.text);
          const usable = [dm, dev, team, board].filter((where) => isUsable(each, where));
          expect(usable.filter((where) => !before.some((some) => isUsable(some, where)))).toEqual([]);
        }
        const { undo } = changeDocument(document, () => change);
        const read = readItemsUndo(JSON.parse(JSON.stringify(undo)));
        if (read === undefined) throw new Error('It cannot be undone');
        expect(reverted(change.document, read)).toEqual(document);
      }),
    );
  });
});
