import type { ThreadAutoArchiveDuration } from 'discord-api-types/v10';

import type { ThreadChannel } from './entities.ts';
import type { World } from './world.ts';

export interface ThreadChange {
  readonly name?: string | undefined;
  readonly archived?: boolean | undefined;
  /** Only who may manage threads opens it again, writes in it or changes it. */
  readonly locked?: boolean | undefined;
  /** Minutes without a message after which Discord puts it away. */
  readonly autoArchiveMinutes?: ThreadAutoArchiveDuration | undefined;
}

/** Changes a thread, announced where anything is different then. */
export function changeThread(world: World, thread: ThreadChannel, change: ThreadChange): void {
  const { name, archived, locked, autoArchiveMinutes } = thread;
  const wanted = {
    name: change.name ?? name,
    archived: change.archived ?? archived,
    locked: change.locked ?? locked,
    autoArchiveMinutes: change.autoArchiveMinutes ?? autoArchiveMinutes,
  };
  const movesStamp = wanted.archived !== archived || wanted.autoArchiveMinutes !== autoArchiveMinutes;
  if (!movesStamp && wanted.name === name && wanted.locked === locked) return;
  Object.assign(thread, wanted);
  if (movesStamp) thread.archiveChangedAt = world.now().toISOString();
  world.emit({ type: 'thread-updated', thread });
  if (archived && !wanted.archived) world.emit({ type: 'thread-unarchived', thread });
}
