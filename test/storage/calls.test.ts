import { expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import { createCalls } from '../../src/storage/calls.ts';

const full = () => Promise.reject(new StoreError('full', 'logs/a'));

const toStoreError = (_key: string, _action: string, error: unknown) => error;

function callsAt(clock: () => Date) {
  return createCalls({ readOnly: false, toStoreError, beforeChange: () => undefined, clock });
}

it('know how the newest write went, whatever is read meanwhile', async () => {
  let now = 0;
  const { change, run, lastWrite } = callsAt(() => new Date(now));
  expect(lastWrite()).toBeUndefined();
  now = 1;
  await expect(change('logs/a', 'appended to', () => Promise.resolve(1))).resolves.toBe(1);
  expect(lastWrite()).toEqual({ at: new Date(1), isOk: true });
  now = 2;
  await expect(change('logs/a', 'appended to', full)).rejects.toThrow('full');
  await run('logs', 'listed', () => Promise.resolve([]));
  expect(lastWrite()).toEqual({ at: new Date(2), isOk: false, failingMs: 0 });
  now = 60_002;
  await expect(change('logs/a', 'appended to', full)).rejects.toThrow('full');
  expect(lastWrite()).toEqual({ at: new Date(now), isOk: false, failingMs: 60_000 });
  await change('logs/a', 'appended to', () => Promise.resolve(1));
  await expect(change('logs/a', 'appended to', full)).rejects.toThrow('full');
  expect(lastWrite()).toMatchObject({ isOk: false, failingMs: 0 });
});
