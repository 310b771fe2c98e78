import { describe, expect, it } from 'vitest';

import type { ShownItem } from '../../src/core/commands.ts';
import { narrowed } from '../../src/page/items.ts';

function item(id: string, changes: Partial<ShownItem> = {}): ShownItem {
  return {
    id,
    kind: 'fact',
    text: `Thing ${id}`,
    visibility: 'dm',
    source: 'manual',
    isOver: false,
    isPinned: false,
    ...changes,
  };
}

const items = [
  item('a', { isPinned: true, updatedAt: '2026-01-01T00:00:00Z', text: 'Likes Crème brûlée' }),
  item('b', { kind: 'preference', updatedAt: '2026-01-03T00:00:00Z', visibility: 'everywhere' }),
  item('c', { source: 'summary', updatedAt: '2026-01-02T00:00:00Z', isOver: true }),
  item('d', { text: 'Porto', question: 'Where do you live?' }),
];
const idsBy = (query: string) => narrowed(items, new URLSearchParams(query)).map(({ id }) => id);

describe('the list of items [Y2]', () => {
  it.each([
    ['q=creme', 'a'],
    ['q=LIVE porto', 'd'],
    ['kind=preference', 'b'],
    ['where=everywhere', 'b'],
    ['source=summary', 'c'],
    ['day=over', 'c'],
    ['pinned=yes', 'a'],
    ['pinned=no&kind=fact', 'cd'],
  ])('is narrowed by %s', (query, ids) => {
    expect(idsBy(query).join('')).toBe(ids);
  });
});
