import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { changedPart } from '../../../src/core/store.ts';
import type { DurableItem } from '../../../src/memory/durable/document.ts';
import { changedItems, indexOf, passIndexOn } from '../../../src/memory/durable/item-index.ts';
import { anyItems, item } from './fixtures.ts';

const anyChange = fc.record({
  kind: fc.constantFrom('replaced', 'removed', 'added', 'by hand'),
  which: fc.nat(),
  text: fc.constantFrom('Prefers Rust', 'prefers  rust', 'Owns a kite'),
  status: fc.constantFrom('active', 'deprecated'),
  pinned: fc.boolean(),
});

type Change = typeof anyChange extends fc.Arbitrary<infer T> ? T : never;

function changeOf(items: readonly DurableItem[], { kind, which, ...fields }: Change, id: string) {
  const old = items[which % items.length];
  if (kind === 'by hand') {
    const saved = old === undefined ? [...items] : [...items.filter((each) => each !== old), { ...old }];
    passIndexOn(items, saved);
    return saved;
  }
  if (kind === 'added' || old === undefined) return changedItems(items, { added: [item({ id, ...fields })] });
  if (kind === 'removed') return changedItems(items, { removed: [old] });
  return changedItems(items, { replaced: [[old, { ...old, ...fields }]] });
}

/** All that an index tells of a list. */
function told(items: readonly DurableItem[]) {
  const index = indexOf(items);
  return {
    activeCount: index.activeCount,
    ids: items.map(({ id }) => index.withId(id)),
    twins: items.map(({ text }) => index.withText(text)),
    deprecated: index.deprecated(),
    leaving: [1, 2, items.length].map((count) => index.firstToLeave(count, new Set([items[0]?.id]))),
  };
}

describe('the index of a list of items', () => {
  it('tells the same whether it was passed on from list to list or made anew', () => {
    fc.assert(
      fc.property(anyItems, fc.array(anyChange, { maxLength: 12 }), (items, changes) => {
        let present: readonly DurableItem[] = items;
        for (const [number, change] of changes.entries()) {
          told(present);
          present = changeOf(present, change, `new ${number}`);
          expect(told(present)).toEqual(told([...present]));
        }
      }),
    );
  });

  it('is passed on with where the lists differ, as one sees who looks through them', () => {
    fc.assert(
      fc.property(anyItems, fc.array(anyChange, { maxLength: 12 }), (items, changes) => {
        let present: readonly DurableItem[] = items;
        for (const [number, change] of changes.entries()) {
          const next = changeOf(present, change, `new ${number}`);
          expect(changedPart(present, next)).toEqual(changedPart([...present], [...next]));
          present = next;
        }
      }),
    );
  });

  it('is there again for a list whose change was not stored', () => {
    const items = [item(), item({ id: 'b', text: 'Owns a kite' })];
    const before = told(items);
    changedItems(items, { removed: items.slice(0, 1) });
    expect(told(items)).toEqual(before);
  });
});
