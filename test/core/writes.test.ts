import { describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import { unconditional, createWrites, RefusedJobError } from '../../src/core/writes.ts';
import { deferred } from '../support/deferred.ts';

const first = '2026-01-15T09:00:00.000Z';
const second = '2026-01-15T10:00:00.000Z';

/** The write queue over erasings that any process may have noted. */
function open() {
  const erased = new Map<string, string>();
  const written: string[] = [];
  let isAway = false;
  const writes = createWrites({
    locks: { hold: (_, job) => job() },
    erasedAt: (userId) =>
      isAway ? Promise.reject(new StoreError('away', 'erasures')) : Promise.resolve(erased.get(userId)),
    clock: () => new Date('2026-01-15T09:30:00.000Z'),
  });
  return { writes, erased, written, setAway: (value: boolean) => (isAway = value) };
}

describe('work for people, some of whom have everything erased [K11] [X2]', () => {
  it('writes nothing of a person once they had everything erased since it began, however late; other people’s and later work goes on', async () => {
    const { writes, erased, written } = open();
    erased.set('anna', first);
    const early = await writes.begin('anna');
    const other = await writes.begin('bert');
    await writes.run(early, async () => void written.push('early'));
    erased.set('anna', second);
    const later = await writes.begin('anna');
    await writes.run(later, async () => void written.push('later'));
    await writes.run(other, async () => void written.push('other'));
    const late = writes.run(early, async () => void written.push('late'));
    await expect(late).rejects.toThrow(RefusedJobError);
    expect(written).toEqual(['early', 'later', 'other']);
  });

  it('is refused by an erasing that was waiting for its turn before the job', async () => {
    const { writes, erased, written } = open();
    const work = await writes.begin('anna');
    const gate = deferred<void>();
    const erasing = writes.run(unconditional('anna'), async () => {
      await gate.promise;
      erased.set('anna', first);
    });
    const waiting = writes.run(work, async () => void written.push('waited'));
    gate.resolve();
    await erasing;
    await expect(waiting).rejects.toThrow(RefusedJobError);
    expect(written).toEqual([]);
  });

  it('is refused by every erasing after its beginning where none could be looked up then', async () => {
    const { writes, erased, written, setAway } = open();
    erased.set('anna', first);
    setAway(true);
    const work = await writes.begin('anna');
    setAway(false);
    await writes.run(work, async () => void written.push('early'));
    erased.set('anna', second);
    await expect(writes.run(work, async () => void written.push('late'))).rejects.toThrow(RefusedJobError);
    expect(written).toEqual(['early']);
  });

  it('that begins with its only job is refused by nothing', async () => {
    const { writes, erased } = open();
    erased.set('anna', second);
    expect(await writes.run(unconditional('anna'), () => Promise.resolve('done'))).toBe('done');
  });
});
