import { setImmediate } from 'node:timers/promises';

import { expect, it, onTestFinished, vi } from 'vitest';

import { measure, measuredApart, onMeasured } from '../../src/core/logger.ts';

it('a measurement that fails is a warning, and ends no process [L5]', async () => {
  const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const crash = vi.fn<(error: Error) => void>();
  process.on('uncaughtException', crash);
  const error = new RangeError('Invalid time zone');
  const ends = [
    onMeasured('evicted', () => {
      throw error;
    }),
  ];
  onTestFinished(() => {
    process.off('uncaughtException', crash);
    for (const end of ends) end();
    vi.restoreAllMocks();
  });
  measure('evicted', { items: 1 });
  await setImmediate();
  expect(crash).not.toHaveBeenCalled();
  expect(warn).toHaveBeenCalledWith(error);
});

it('a bot beside another hears its own measurements alone', async () => {
  const [outer, inner] = [vi.fn<(value: object) => void>(), vi.fn<(value: object) => void>()];
  const ends = [onMeasured('turn', outer)];
  onTestFinished(() => {
    for (const end of ends) end();
  });
  await measuredApart(async () => {
    ends.push(onMeasured('turn', inner));
    await setImmediate();
    measure('turn', { outcome: 'played' });
  });
  measure('turn', { outcome: 'answered' });
  expect(inner.mock.calls).toEqual([[{ outcome: 'played' }]]);
  expect(outer.mock.calls).toEqual([[{ outcome: 'answered' }]]);
});
