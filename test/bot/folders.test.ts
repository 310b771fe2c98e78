import { describe, expect, it } from 'vitest';

import { refusedByDisk } from '../../src/bot/open-store.ts';
import { StoreError } from '../../src/core/errors.ts';

/** As the file system says it. */
const failure = (code: string) =>
  Object.assign(new Error(`${code}: no, open '/srv/bot/data/usage.json'`), {
    code,
    path: '/srv/bot/data/usage.json',
  });

describe('a refusal of the file system at start [O2] [O7]', () => {
  it.each(['EACCES', 'EPERM', 'EROFS'])('names path, user and what to do: %s', (code) => {
    for (const error of [failure(code), new StoreError('.', '.', { cause: failure(code) })])
      expect(refusedByDisk(error)?.message).toMatch(
        /^\/srv\/bot\/data\/usage\.json cannot be used by the user .+: give it to that user/u,
      );
  });

  it('is none if it may pass by itself, or has nothing to do with a file', () => {
    expect(refusedByDisk(failure('ENOSPC'))).toBeUndefined();
    expect(refusedByDisk(new StoreError('in use', '.'))).toBeUndefined();
    expect(refusedByDisk(new Error('planted'))).toBeUndefined();
  });
});
