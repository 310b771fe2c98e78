import { join } from 'node:path';

import { RecentChanges } from '../../src/core/changes.ts';
import type { Place } from '../../src/core/place.ts';
import { createSessionLog } from '../../src/memory/log/session-log.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { plainWrites } from '../../test/support/plain-writes.ts';

export const timeZone = 'UTC';
const clock = () => new Date();
const placeOf = () => Promise.resolve(undefined);

/** The DM of a person. */
export function dmOf(userId: string): Place {
  const channelId = `9${userId.slice(1)}`;
  return { audience: 'dm', channelId, homeId: channelId };
}

/** The id of the n-th person. */
export function userIdOf(index: number): string {
  return String(100_000_000_000_000_001n + BigInt(index));
}

/** The product's own log over files in a folder. */
export async function openLog(folder: string) {
  const [dataDir, workspaceDir] = [join(folder, 'data'), join(folder, 'workspace')];
  const logger = createLogger({ level: 'warn' });
  const store = await createFileStore({ dataDir, workspaceDir, clock, logger });
  const writes = plainWrites();
  const changes = new RecentChanges();
  return { store, log: createSessionLog({ store, writes, changes, placeOf, clock, botName: 'Discoclaw' }) };
}
