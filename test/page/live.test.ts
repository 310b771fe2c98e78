import { expect, it } from 'vitest';

import { createLivePages } from '../../src/page/own-routes.ts';

it('ten pages of a person are told of changes at most, the newest ones [L3]', () => {
  const live = createLivePages();
  const told: number[] = [];
  const closed: number[] = [];
  const leave = Array.from({ length: 12 }, (_, index) =>
    live.add('alice', { write: () => void told.push(index), close: () => void closed.push(index) }),
  );
  expect(closed).toEqual([0, 1]);
  leave[11]?.();
  live.tell('alice');
  expect(told).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10]);
  live.tell('bob');
  expect(told).toHaveLength(9);
});
