import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { patchBetween, patched, patchSchema } from '../../../src/storage/files/patch.ts';

interface Item {
  readonly id: string;
  readonly text: string;
}

const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), { maxLength: 7 });
const text = fc.constantFrom('tea', 'coffee');

/** A document, and what a change made of it: elements that stayed are the same objects. */
const change = fc
  .record({
    before: ids,
    after: fc.oneof(ids, fc.constant(undefined)),
    texts: fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), text),
    changed: fc.subarray(['a', 'b', 'c', 'd', 'e', 'f', 'g']),
    keepsOrder: fc.boolean(),
    note: fc.option(text, { nil: undefined }),
    count: fc.integer({ min: 0, max: 2 }),
  })
  .map(({ before, after, texts, changed, keepsOrder, note, count }) => {
    const items: readonly Item[] = before.map((id) => ({ id, text: texts[id] ?? 'water' }));
    const known = new Map(items.map((item) => [item.id, item]));
    const wanted = after ?? before.filter((id) => !changed.includes(id));
    const order = keepsOrder
      ? [...before.filter((id) => wanted.includes(id)), ...wanted.filter((id) => !before.includes(id))]
      : wanted;
    const next = order.map((id) => {
      const item = known.get(id);
      return item === undefined || changed.includes(id) ? { id, text: 'new' } : item;
    });
    return {
      before: { version: 1, items, ...(count > 0 && { count: 0 }) },
      after: { version: 1, items: next, ...(note !== undefined && { note }), ...(count > 1 && { count }) },
    };
  });

describe('the patch of a change to a document', () => {
  it('makes the one into the other, also when it comes from disk, and once more changes nothing', () => {
    fc.assert(
      fc.property(change, ({ before, after }) => {
        const patch = patchSchema.parse(JSON.parse(JSON.stringify(patchBetween(before, after, 'items'))));
        expect(patched(before, patch)).toEqual(after);
        expect(patched(after, patch)).toEqual(after);
        expect(patched(before, patchBetween(before, after))).toEqual(after);
      }),
      { numRuns: 1000 },
    );
  });

  it('is empty where nothing changed, and names one element of many', () => {
    const items = Array.from({ length: 100 }, (_, index) => ({ id: String(index), text: 'tea' }));
    const before = { version: 1, items };
    expect(patchBetween(before, { ...before }, 'items')).toEqual({});
    const element = { id: '50', text: 'coffee' };
    const after = { ...before, items: items.with(50, element) };
    expect(patchBetween(before, after, 'items')).toEqual({
      lists: { items: { removed: [], put: [{ after: '49', element }] } },
    });
  });

  it('leaves alone what somebody else changed meanwhile', () => {
    const tea = { id: 'a', text: 'tea' };
    const before = { version: 1, items: [tea, { id: 'b', text: 'cake' }] };
    const patch = patchBetween(
      before,
      { version: 1, items: [...before.items, { id: 'c', text: 'jam' }] },
      'items',
    );
    const edited = { version: 1, note: 'mine', items: [{ id: 'a', text: 'coffee' }] };
    expect(patched(edited, patch)).toEqual({ ...edited, items: [...edited.items, { id: 'c', text: 'jam' }] });
  });
});
