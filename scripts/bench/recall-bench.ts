import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { Place } from '../../src/core/place.ts';
import type { Store } from '../../src/core/store.ts';
import type { Passage } from '../../src/memory/recall/passages.ts';
import type { Recall } from '../../src/memory/recall/recall.ts';
import { createSessionLog, type SessionLog } from '../../src/memory/log/session-log.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { createKeyedQueue } from '../../src/core/keyed-queue.ts';
import { createFileStore } from '../../src/storage/files/store.ts';

export const timeZone = 'UTC';
const clock = () => new Date();
/** Results of a search: R@20 is the deepest that is measured. */
const depth = 20;

/** The DM of a person. */
export function dmOf(userId: string): Place {
  const channelId = `9${userId.slice(1)}`;
  return { audience: 'dm', channelId, homeId: channelId };
}

/** The id of the n-th person. */
export function userIdOf(index: number): string {
  return String(100_000_000_000_000_001n + BigInt(index));
}

/** Searches a person's messages from their DM. */
export function search(recall: Recall, userId: string, query: string): Promise<readonly Passage[]> {
  const speaker = { id: userId, isOwner: false };
  return recall.search({
    query,
    scope: 'messages',
    limit: depth,
    speaker,
    place: dmOf(userId),
    now: clock(),
    excluded: [],
  });
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** What lives on the heap after garbage was collected. */
export async function heapMegabytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  // What the last writes left is let go of only after they have settled.
  for (let round = 0; round < 3; round += 1) {
    await setTimeout(50);
    runInNewContext('gc')();
  }
  return Math.round(process.memoryUsage().heapUsed / 1024 / 1024);
}

/** Gives the product's own log over files in a temporary folder, which is removed afterwards. */
export async function withLog(work: (log: SessionLog, store: Store) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-recall-'));
  const logger = createLogger({ level: 'warn' });
  const dirs = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') };
  const store = await createFileStore({ ...dirs, clock, logger });
  try {
    const writes = createKeyedQueue();
    const changes = new RecentChanges();
    await work(createSessionLog({ store, writes, changes, clock, botName: 'Discoclaw' }), store);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}
