import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Place } from '../../../src/core/place.ts';
import type { DurableItem } from '../../../src/memory/durable/document.ts';
import { itemHistories } from '../../../src/memory/durable/items.ts';
import { confirmItems, editItem, keepOne } from '../../../src/memory/durable/edit-items.ts';
import { aliceId, anyItems, anyPlace, dev, dm, documentOf, item, minutesLater } from './fixtures.ts';

const later = minutesLater(60);

/** What no keeping changes. */
const wordsOf = ({ id, text, visibility, source: { channelId } }: DurableItem) =>
  [id, text, visibility, channelId] as const;

describe('a new text for an item [K8]', () => {
  const old = item({ text: 'I live in Porto', visibility: 'server' });
  const edited = (place: Place) =>
    editItem(documentOf(old), aliceId, { id: old.id, text: 'I live in Lisbon', place, messageId: '1' }, later)
      .document;

  it('leaves what it said before in its history, and counts as confirmed [K16]', () => {
    const { items } = edited(dev);
    expect(items.find(({ id }) => id === old.id)).toMatchObject({
      text: 'I live in Lisbon',
      confirmedAt: later.toISOString(),
    });
    expect(
      itemHistories(items)
        .get(old.id)
        ?.map(({ text }) => text),
    ).toEqual(['I live in Porto']);
  });

  it('is for nobody who could not read it: in the DM only, if it was said there [V1]', () => {
    for (const [place, visibility] of [
      [dev, 'server'],
      [dm, 'dm'],
    ] as const)
      expect(edited(place).items.find(({ id }) => id === old.id)?.visibility).toBe(visibility);
  });
});

describe('keeping one of two items [K16] [D6]', () => {
  const older = item({ text: 'I live in Porto', pinned: true });
  const newer = item({ id: 'bbbbbbbb', text: 'I live in Lisbon' });

  it('makes the other its history, takes over its pin, and counts as confirmed', () => {
    const keep = { kept: newer.id, replaced: older.id, place: dev };
    const { document, result } = keepOne(documentOf(older, newer), aliceId, keep, later);
    const at = later.toISOString();
    const kept = { ...newer, pinned: true, confirmedAt: at };
    expect(result).toEqual({ item: kept, previous: older });
    expect(document.items).toEqual([
      { ...older, status: 'deprecated', supersededBy: newer.id, updatedAt: at },
      kept,
    ]);
  });

  it('does nothing with one that is gone, may not be used there, or is the same', () => {
    const document = documentOf(older, newer, item({ id: 'cccccccc', visibility: 'dm' }));
    for (const [kept, replaced] of [[newer.id, 'dddddddd'], ['cccccccc', older.id], [newer.id, 'cccccccc'], [newer.id, newer.id]] as const) {
      const change = keepOne(document, aliceId, { kept, replaced, place: dev }, later);
      expect(change.result).toEqual({});
      expect(change.document).toBe(document);
      const confirmed = confirmItems(document, aliceId, [kept, replaced], dev, later);
      expect(confirmed.document === document).toBe(kept !== replaced);
    } // prettier-ignore
  });

  it('loses no words and changes nobody’s readers', () => {
    fc.assert(
      fc.property(anyItems, anyPlace, fc.nat(), fc.nat(), (items, place, a, b) => {
        const [one, other] = [items[a % items.length], items[b % items.length]];
        if (one === undefined || other === undefined) return;
        // Some of the history is the other one's.
        const linked = items.map((each): DurableItem =>
          each.status === 'deprecated' ? { ...each, supersededBy: other.id } : each,
        );
        const document = documentOf(...linked);
        const change = keepOne(document, aliceId, { kept: one.id, replaced: other.id, place }, later);
        const { item: kept } = change.result;
        expect(kept === undefined ? change.document : document).toBe(document);
        if (kept === undefined) return;
        const after = change.document.items;
        expect(after.map(wordsOf)).toEqual(linked.map(wordsOf));
        expect(after.filter(({ status }) => status === 'active').map(({ id }) => id)).toEqual(
          linked.filter(({ id, status }) => status === 'active' && id !== other.id).map(({ id }) => id),
        );
        const past = itemHistories(after).get(one.id) ?? [];
        expect(past.map(({ id }) => id)).toContain(other.id);
      }),
    );
  });
});
