import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { StoreError } from '../../src/core/errors.ts';
import { createLapsingLog, lapsingFields } from '../../src/memory/lapsing-log.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { silent, startTime } from '../support/sessions.ts';

const alice = '100000000000000001';
const lastsMs = 600_000;
const schema = z.object({ ...lapsingFields, words: z.string() });
type Waiting = z.infer<typeof schema>;

function openLog(
  store: Pick<MemoryStore, 'append' | 'scan' | 'rewrite'>,
  lapseAt: (userId: string, time?: Date) => Promise<void>,
  kind: Partial<Parameters<typeof createLapsingLog<Waiting>>[1]> = {},
) {
  let passedMs = 0;
  const log = createLapsingLog<Waiting>(
    {
      store,
      clock: () => new Date(startTime + passedMs),
      lapseAt,
      logger: silent,
    },
    {
      name: 'waiting.jsonl',
      schema,
      lastsMs,
      maxPerUser: 10,
      finalise: () => Promise.resolve(),
      ...kind,
    },
  );
  return { log, pass: (ms: number) => (passedMs += ms) };
}

describe("a person's records that lapse [S7]", () => {
  it('are seen to by somebody from before they stand anywhere, so that a kill leaves none that would stay for ever', async () => {
    const store = new MemoryStore();
    const { log } = openLog(store, () => Promise.reject(new StoreError('killed', 'work')));
    await expect(log.note({ userId: alice, words: 'quokka' })).rejects.toThrow(StoreError);
    expect(await store.everything()).not.toContain('quokka');
  });

  it('are asked for again where they could not be looked at, and gone then', async () => {
    const store = new MemoryStore();
    let isReadable = true;
    const readable: Pick<MemoryStore, 'append' | 'scan' | 'rewrite'> = {
      append: (key, record) => store.append(key, record),
      rewrite: (key, of, change) => store.rewrite(key, of, change),
      scan(key, of) {
        if (!isReadable) throw new StoreError('out of reach', key);
        return store.scan(key, of);
      },
    };
    const { log, pass } = openLog(readable, () => Promise.resolve());
    await log.note({ userId: alice, words: 'quokka' });
    pass(lastsMs);
    isReadable = false;
    await expect(log.lapse(alice)).rejects.toThrow(StoreError);
    isReadable = true;
    await log.lapse(alice);
    expect(await store.everything()).not.toContain('quokka');
  });

  it('are looked at soon where there are more than a person may have, and the oldest go [L3]', async () => {
    const store = new MemoryStore();
    const times: number[] = [];
    const { log } = openLog(store, async (_, time) => void times.push(Number(time) - startTime), {
      maxPerUser: 2,
    });
    for (const words of ['quokka', 'numbat', 'bilby']) await log.note({ userId: alice, words });
    expect(times[1]).toBe(lastsMs);
    expect(times[2]).toBeLessThan(60_000);
    expect((await log.list(alice)).map(({ words }) => words)).toEqual(['numbat', 'bilby']);
    await log.lapse(alice);
    expect(await store.everything()).not.toContain('quokka');
    expect((await log.list(alice)).map(({ words }) => words)).toEqual(['numbat', 'bilby']);
  });

  it('that cannot be made final yet are looked at again soon, and others go', async () => {
    const store = new MemoryStore();
    const times: unknown[] = [];
    let isRefused = true;
    const { log, pass } = openLog(store, async (_, time) => void times.push(time), {
      finalise: ({ words }) =>
        isRefused && words === 'quokka' ? Promise.reject(new StoreError('full', 'log')) : Promise.resolve(),
    });
    for (const words of ['quokka', 'numbat']) await log.note({ userId: alice, words });
    pass(lastsMs);
    times.length = 0;
    await log.lapse(alice);
    const kept = await store.everything();
    expect([kept.includes('quokka'), kept.includes('numbat'), times.length]).toEqual([true, false, 1]);
    isRefused = false;
    await log.lapse(alice);
    expect(await store.everything()).not.toContain('quokka');
  });
});
