import { expect, it } from 'vitest';

import { formerItems } from '../../../src/memory/durable/former-items.ts';
import { item, minutesLater } from './fixtures.ts';

/** An item that was corrected by another so many minutes after noon. */
function former(id: string, supersededBy: string, minutes = 0) {
  const updatedAt = minutesLater(minutes).toISOString();
  return item({ id, status: 'deprecated', supersededBy, updatedAt });
}

it('finds what an item corrected, also by way of others, newest first', () => {
  const items = [former('b', 'c', 2), former('a', 'b', 1), item({ id: 'c' }), item({ id: 'd' })];
  const found = [...formerItems(items)].map(([id, past]) => [id, past.map((each) => each.id)]);
  expect(found).toEqual([['c', ['b', 'a']]]);
});

it('finds nothing where corrections lead to nothing that holds, or in a circle', () => {
  const forgotten = item({ id: 'c', status: 'deprecated' });
  expect(formerItems([former('a', 'c'), forgotten]).size).toBe(0);
  expect(formerItems([former('a', 'b'), former('b', 'a'), former('x', 'x'), former('y', 'z')]).size).toBe(0);
});
