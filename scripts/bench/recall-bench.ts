import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import type { Place } from '../../src/core/place.ts';
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
export function search(
  recall: Recall,
  userId: string,
  ...queries: readonly string[]
): Promise<readonly Passage[]> {
  const speaker = { id: userId, isOwner: false };
  return recall.search({
    queries,
    scope: 'messages',
    limit: depth,
    speaker,
    place: dmOf(userId),
    now: clock(),
    excluded: [],
  });
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

/** The product's own log over files in a folder. */
export async function openLog(folder: string) {
  const logger = createLogger({ level: 'warn' });
  const dirs = { dataDir: join(folder, 'data'), workspaceDir: join(folder, 'workspace') };
  const store = await createFileStore({ ...dirs, clock, logger });
  const writes = createKeyedQueue();
  const changes = new RecentChanges();
  return { store, log: createSessionLog({ store, writes, changes, clock, botName: 'Discoclaw' }) };
}

/** Gives a log in a temporary folder, which is removed afterwards. */
export async function withLog(work: (log: SessionLog) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-recall-'));
  const { log, store } = await openLog(folder);
  try {
    await work(log);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
}
