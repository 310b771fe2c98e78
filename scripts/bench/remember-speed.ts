import { copyFile, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type * as QueueModule from '../../src/core/keyed-queue.ts';
import type { Place } from '../../src/core/place.ts';
import type * as DurableModule from '../../src/memory/durable/durable-memory.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { Bench, Subject } from './measured.ts';
import { openStoreOf, type Version } from './versions.ts';
import { undoOver } from '../../test/support/undo.ts';

const rounds = 7;
const remembersARound = 20;
const people = 1000;
const sizes = [200, 1000, 4000] as const;
const channelId = '200000000000000001';
const place: Place = { audience: 'dm', channelId, homeId: channelId };
const rows = {
  200: ['remember, one person with 200 items', 'ms'],
  1000: ['remember, one person with 1,000 items', 'ms'],
  4000: ['remember, one person with 4,000 items', 'ms'],
  cold: ['remember, of 1,000 people at once, documents on disk', 'ms'],
  warm: ['remember, of 1,000 people at once, documents in memory', 'ms'],
} as const;

type Row = `${keyof typeof rows}`;

/** How long it takes until something that was to be remembered is on disk. */
export async function benchRemembering(bench: Bench): Promise<void> {
  await bench.compare({
    rows,
    rounds,
    floor: { name: 'a synced log line', subject: await syncedLines() },
    open: openVersion,
  });
}

async function syncedLines(): Promise<Subject<Row>> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-lines-'));
  const file = await open(join(folder, 'bare.jsonl'), 'a');
  async function sample() {
    const begun = performance.now();
    for (let line = 0; line < remembersARound; line += 1) {
      await file.appendFile(`${JSON.stringify({ text: textOf(line) })}\n`);
      await file.datasync();
    }
    const time = (performance.now() - begun) / remembersARound;
    return { 200: time, 1000: time, 4000: time, cold: time, warm: time };
  }
  return {
    sample,
    async close() {
      await file.close();
      await rm(folder, { recursive: true });
    },
  };
}

function textOf(number: number): string {
  return `Keeps thing number ${number} in the blue box behind the garden house`;
}

function now(): Date {
  return new Date();
}

function personOf(index: number): string {
  return String(100_000_000_000_000_000n + BigInt(index));
}

/** The memory of a version: one person for each size, and a thousand with copies of the least. */
async function openVersion(version: Version): Promise<Subject<Row>> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-remember-'));
  const logger = createLogger({ level: 'error' });
  const { createKeyedQueue } = await version.load<typeof QueueModule>(
    'core/keyed-queue.ts',
    'queue/keyed-queue.ts',
  );
  const { createDurableMemory } = await version.load<typeof DurableModule>(
    'memory/durable/durable-memory.ts',
  );
  const settings = { enabled: true, maxItems: 100_000, injectMaxChars: 2000 };
  const opened = async () => {
    const store = await openStoreOf(version, folder);
    const durable = createDurableMemory({
      settings,
      // Where versions before had them.
      ...settings,
      store,
      writes: createKeyedQueue(),
      changes: {
        forget: () => Promise.reject(new Error('Nothing is forgotten here')),
        restore: () => Promise.resolve(),
      },
      ...undoOver(store, now),
      clock: now,
      timeZone: 'UTC',
      logger,
    });
    return { store, durable };
  };
  let { store, durable } = await opened();
  let last = 0;
  const remember = (userId: string) => {
    last += 1;
    const messageId = String(400_000_000_000_000_000n + BigInt(last));
    return durable.remember(userId, { text: textOf(last), place, messageId, type: 'manual' });
  };
  const pathOf = (userId: string) => join(folder, 'data/users', userId, 'durable.json');
  const owners = new Map(sizes.map((size) => [size, personOf(size * 1_000_000)]));
  for (const [size, userId] of owners) for (let item = 0; item < size; item += 1) await remember(userId);
  await store.close();
  for (let index = 0; index < people; index += 1) {
    await mkdir(dirname(pathOf(personOf(index))), { recursive: true });
    await copyFile(pathOf(owners.get(200) ?? ''), pathOf(personOf(index)));
  }
  const all = async () => {
    const begun = performance.now();
    await Promise.all(Array.from({ length: people }, (_, index) => remember(personOf(index))));
    return (performance.now() - begun) / people;
  };
  return {
    async sample() {
      ({ store, durable } = await opened());
      const found: Partial<Record<Row, number>> = {};
      for (const [size, userId] of owners) {
        await remember(userId);
        const begun = performance.now();
        for (let one = 0; one < remembersARound; one += 1) await remember(userId);
        found[`${size}`] = (performance.now() - begun) / remembersARound;
      }
      found.cold = await all();
      found.warm = await all();
      await store.close();
      return found;
    },
    close: () => rm(folder, { recursive: true }),
  };
}
