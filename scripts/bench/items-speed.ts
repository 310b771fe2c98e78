import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import type { Place } from '../../src/core/place.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import type { Bench } from './measured.ts';
import { undoOver } from '../../test/support/undo.ts';

const pairs = 4_000;
const userId = '100000000000000001';
const channelId = '200000000000000001';
const place: Place = { audience: 'dm', channelId, homeId: channelId };

/** Remembers and forgets four thousand things of one person: what is kept of the past is bounded, so the last write costs what the hundredth did [L3]. */
export async function benchItems(bench: Bench): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-items-'));
  const logger = createLogger({ level: 'warn' });
  const dirs = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') };
  const store = await createFileStore({ ...dirs, clock: () => new Date(), logger });
  const durable: DurableMemory = createDurableMemory({
    settings: { enabled: true, maxItems: 200, injectMaxChars: 2000 },
    store,
    writes: createKeyedQueue(),
    // Without the ledger: what is timed are the writes of the document.
    changes: {
      async forget(_layer, _userId, decide) {
        const { change, result } = await decide();
        if (change.kind === 'forgotten') await durable.follow(change, 'withdraw');
        return { result, failures: new Map(), withdrawn: 0 };
      },
      restore: () => Promise.resolve(),
    },
    ...undoOver(store, () => new Date()),
    clock: () => new Date(),
    timeZone: 'UTC',
    logger,
  });
  const times: number[] = [];
  try {
    for (let pair = 1; pair <= pairs; pair += 1) {
      const messageId = String(400_000_000_000_000_000n + BigInt(2 * pair));
      const text = `Keeps thing number ${pair} `.padEnd(300, 'in the garden ');
      const begun = performance.now();
      await durable.remember(userId, { text, place, messageId, type: 'manual' });
      times.push(performance.now() - begun);
      await durable.forget(userId, `number ${pair} `, place, String(BigInt(messageId) + 1n));
    }
    bench.tell({
      name: `remembering after ${pairs} pairs of remember and forget`,
      unit: 'ms',
      ours: times.slice(-20),
      floor: { name: 'after 100', values: times.slice(90, 110) },
    });
    const { size } = await stat(join(dirs.dataDir, 'users', userId, 'durable.json'));
    bench.tell({ name: 'the document after that', unit: 'kB', ours: [size / 1000] });
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}
