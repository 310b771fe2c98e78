import { expect, it, vi } from 'vitest';

import { limits } from '../../src/core/limits.ts';
import { createAnswers, createLivePages } from '../../src/page/own-routes.ts';

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

it('answers are held for an hour, and so many characters of them [L3]', () => {
  vi.useFakeTimers();
  try {
    const answers = createAnswers();
    const text = 'x'.repeat(limits.pageAnswers.characters / 10);
    for (let session = 0; session < 20; session += 1) answers.set(String(session), { id: '1', text });
    expect([...answers.keys()].length).toBe(9);
    vi.advanceTimersByTime(61 * 60_000);
    expect(answers.size).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
