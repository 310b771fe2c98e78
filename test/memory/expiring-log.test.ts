import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

import { StoreError } from '../../src/core/errors.ts';
import { createExpiringLog, expireEverybody, expiringFields } from '../../src/memory/expiring-log.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { silent, startTime } from '../support/sessions.ts';

const alice = '100000000000000001';
const lastsMs = 600_000;
const schema = z.object({ ...expiringFields, words: z.string() });
type Waiting = z.infer<typeof schema>;

function openLog(
  store: Pick<MemoryStore, 'append' | 'scan' | 'rewrite'>,
  expireAt: (userId: string, time?: Date) => Promise<void>,
  kind: Partial<Parameters<typeof createExpiringLog<Waiting>>[1]> = {},
) {
  let passedMs = 0;
  const log = createExpiringLog<Waiting>(
    {
      store,
      clock: () => new Date(startTime + passedMs),
      expireAt,
      logger: silent,
    },
    {
      name: 'waiting.jsonl',
      schema,
      ttlMs: lastsMs,
      maxPerUser: 10,
      onExpire: () => Promise.resolve(),
      ...kind,
    },
  );
  return { log, pass: (ms: number) => (passedMs += ms) };
}

describe("a person's records that expire [S7]", () => {
  it('are scheduled to expire before they are written, so that a kill leaves none that would stay for ever', async () => {
    const store = new MemoryStore();
    const { log } = openLog(store, () => Promise.reject(new StoreError('killed', 'work')));
    await expect(log.add({ userId: alice, words: 'quokka' })).rejects.toThrow(StoreError);
    expect(await store.everything()).not.toContain('quokka');
  });

  it('are added without reading those that are there', async () => {
    const store = new MemoryStore();
    const unread = {
      append: (key: string, record: object) => store.append(key, record),
      scan: () => expect.unreachable(),
      rewrite: () => expect.unreachable(),
    };
    const { log } = openLog(unread, () => Promise.resolve());
    for (const words of ['quokka', 'numbat']) await log.add({ userId: alice, words });
    expect(await store.everything()).toMatch(/quokka.*numbat/su);
  });

  it('are deleted by the next attempt where they could not be read', async () => {
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
    await log.add({ userId: alice, words: 'quokka' });
    pass(lastsMs);
    isReadable = false;
    await expect(log.expire(alice)).rejects.toThrow(StoreError);
    isReadable = true;
    await log.expire(alice);
    expect(await store.everything()).not.toContain('quokka');
  });

  it('expire soon, the oldest first, where there are more than a person may have [L3]', async () => {
    const store = new MemoryStore();
    const times: number[] = [];
    const { log } = openLog(store, async (_, time) => void times.push(Number(time) - startTime), {
      maxPerUser: 2,
    });
    for (const words of ['quokka', 'numbat', 'bilby']) await log.add({ userId: alice, words });
    expect(times.slice(0, 3)).toEqual([lastsMs, lastsMs, lastsMs]);
    expect(times[3]).toBeLessThan(60_000);
    expect((await log.list(alice)).map(({ words }) => words)).toEqual(['numbat', 'bilby']);
    await log.expire(alice);
    expect(await store.everything()).not.toContain('quokka');
    expect((await log.list(alice)).map(({ words }) => words)).toEqual(['numbat', 'bilby']);
  });

  it('that cannot be deleted yet are tried again soon, and others go', async () => {
    const store = new MemoryStore();
    const times: unknown[] = [];
    let isRefused = true;
    const { log, pass } = openLog(store, async (_, time) => void times.push(time), {
      onExpire: ({ words }) =>
        isRefused && words === 'quokka' ? Promise.reject(new StoreError('full', 'log')) : Promise.resolve(),
    });
    for (const words of ['quokka', 'numbat']) await log.add({ userId: alice, words });
    pass(lastsMs);
    times.length = 0;
    await log.expire(alice);
    const kept = await store.everything();
    expect([kept.includes('quokka'), kept.includes('numbat'), times.length]).toEqual([true, false, 1]);
    isRefused = false;
    await log.expire(alice);
    expect(await store.everything()).not.toContain('quokka');
  });

  it('are looked for at a start until the disk tells who has any', async () => {
    const store = new MemoryStore();
    const { log } = openLog(store, () => Promise.resolve());
    await log.add({ userId: alice, words: 'quokka' });
    const folders = vi.fn<MemoryStore['folders']>(store.folders.bind(store));
    folders.mockRejectedValueOnce(new StoreError('gone', 'users'));
    const later: (() => void)[] = [];
    const due: string[] = [];
    await expireEverybody(['waiting.jsonl'], {
      store: { folders },
      timer: (callback) => (later.push(callback), () => undefined),
      expireAt: async (userId) => void due.push(userId),
      others: () => Promise.resolve([]),
      logger: silent,
    });
    expect(due).toEqual([]);
    later.shift()?.();
    await expect.poll(() => due).toEqual([alice]);
    expect(later).toEqual([]);
  });
});
