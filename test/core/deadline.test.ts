import { getEventListeners } from 'node:events';

import { describe, expect, it } from 'vitest';

import { createAbortGroup } from '../../src/core/deadline.ts';
import { sleep } from '../../src/core/time.ts';

describe('work that is aborted together', () => {
  it('ends at once, also fifty pauses, each by a signal of its own on which nothing is left', async () => {
    const group = createAbortGroup();
    const signals: AbortSignal[] = [];
    const pauses = Array.from({ length: 50 }, () =>
      group.run((signal) => {
        signals.push(signal);
        return sleep(600_000, signal);
      }),
    );
    expect(signals.map((signal) => getEventListeners(signal, 'abort').length)).toEqual(signals.map(() => 1));
    group.abort();
    await Promise.all(pauses);
    expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
  });

  it('runs if it starts later, until the group has ended', async () => {
    const group = createAbortGroup();
    group.abort();
    await group.run(async (signal) => expect(signal.aborted).toBe(false));
    group.end();
    await group.run(async (signal) => expect(signal.aborted).toBe(true));
  });

  it('fails as the work does', async () => {
    const failing = createAbortGroup().run(() => Promise.reject(new Error('broken')));
    await expect(failing).rejects.toThrow('broken');
  });
});
