import { describe, expect, it } from 'vitest';

import { faultOf, refusedByDisk } from '../../src/bot/folders.ts';
import { StoreError } from '../../src/core/errors.ts';

const folder = { path: '/srv/bot/data', nearest: '/srv/bot/data', owner: 0, mode: 0o755 };

describe('a folder that the bot cannot use [O7]', () => {
  it('on a read-only file system is reported with the managers that make it one', () => {
    const fault = faultOf('DISCOCLAW_DATA_DIR', { ...folder, state: 'read-only' });
    expect(fault?.text).toMatch(
      /^\/srv\/bot\/data cannot be written by the user .+: it lies on a read-only file system$/u,
    );
    expect(fault?.remedy).toContain('ReadWritePaths');
    expect(fault?.remedy).toContain('set DISCOCLAW_DATA_DIR to another folder');
  });

  it('never has what lies above it given away', () => {
    const fault = faultOf('DISCOCLAW_DATA_DIR', { ...folder, nearest: '/', state: 'refused' });
    expect(fault?.text).toContain('since / belongs to root with mode 755');
    expect(fault?.remedy).not.toMatch(/chown \S+ \/[ )]/u);
    expect(fault?.remedy).not.toContain('chown -R');
  });
});

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
