import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Place } from '../../src/core/place.ts';
import type { Passage } from '../../src/memory/recall/passages.ts';
import type { Recall } from '../../src/memory/recall/recall.ts';
import { createSessionLog, type SessionLog } from '../../src/memory/log/session-log.ts';
import { unknownChannels } from '../../src/bot/layers.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { plainWrites } from '../../test/support/plain-writes.ts';
import { clock, openFiles } from './person.ts';

export const timeZone = 'UTC';
/** Results of a search, as many as the model is given where it does not say how many. */
export const depth = 15;

/** The DM of a person. */
export function dmOf(userId: string): Place {
  const channelId = `9${userId.slice(1)}`;
  return { audience: 'dm', channelId, homeId: channelId };
}

/** The id of the n-th person. */
export function userIdOf(index: number): string {
  return String(100_000_000_000_000_001n + BigInt(index));
}

/** Searches a person's messages from their DM, by one or more wordings. */
export function search(
  recall: Recall,
  userId: string,
  now: Date,
  queries: readonly string[],
): Promise<readonly Passage[]> {
  const asker = { speaker: { id: userId, isOwner: false }, place: dmOf(userId), now };
  return recall.search({ ...asker, queries, scope: 'messages', limit: depth, excluded: [] });
}

/** The product's own log over files in a folder. */
export async function openLog(folder: string) {
  const store = await openFiles(folder);
  const writes = plainWrites();
  const changes = new RecentChanges();
  const { placeOf } = unknownChannels;
  return { store, log: createSessionLog({ store, writes, changes, placeOf, clock, botName: 'Discoclaw' }) };
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
