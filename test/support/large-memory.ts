import { layersAlone } from './layers-alone.ts';
import { readConfig } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import type { Place } from '../../src/core/place.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { Store } from '../../src/core/store.ts';
import { logKey } from '../../src/memory/log/session-state.ts';
import { createOutbox } from '../../src/turn/outbox.ts';
import { aliceId } from './incoming.ts';
import { silent } from './sessions.ts';

const place: Place = { audience: 'dm', channelId: '600000000000000009', homeId: '600000000000000009' };
const session = { channelId: place.channelId, userId: aliceId };
const start = Date.UTC(2025, 0, 1);

/** Of the n-th message. */
const idOf = (index: number): string => snowflakeAt(new Date(start + index * 60_000));

/** Text of a length that is usual on Discord, with words as unlike as in real talk. */
export function usualText(index: number): string {
  return Array.from(
    { length: 18 },
    (_, word) => `w${((index * 7919 + word * 104_729) % 30_011).toString(36)}x`,
  ).join(' ');
}

/**
 * All layers of memory over a store, with `messages` logged of one person in a DM, every second an answer to the one before.
 */
export async function openLargeMemory(store: Store, messages: number) {
  const { config } = readConfig({ DISCOCLAW_TIMEZONE: 'UTC' });
  const recent = new RecentChanges();
  const memory = layersAlone(config, {
    store,
    recent,
    answers: createOutbox({ store, changes: recent }),
    clock: () => new Date(start + (messages + 1) * 60_000),
    logger: silent,
  });
  for (let first = 0; first < messages; first += 1000) {
    const batch = Array.from({ length: Math.min(1000, messages - first) }, (_, offset) => first + offset);
    await Promise.all(batch.map((index) => store.append(logKey(session), recordOf(index))));
  }
  await memory.states.update(session, (state) => ({ ...state, place, speakerName: 'Alice' }));
  const ids = Array.from({ length: messages }, (_, index) => idOf(index));

  return {
    ...memory,
    session,
    place,
    /** The ids of the person's own messages. */
    ownIds: ids.filter((_, index) => index % 2 === 0),
    search: (query: string) =>
      memory.recall.search({
        queries: [query],
        scope: 'all',
        limit: 20,
        speaker: { id: aliceId, isOwner: false },
        place,
        now: new Date(start),
        excluded: [],
      }),
    remove: (messageIds: readonly string[]) =>
      memory.changes.record({ kind: 'deleted', channelId: place.channelId, messageIds }),
  };
}

function recordOf(index: number) {
  const id = idOf(index);
  return {
    type: 'message',
    id,
    at: new Date(start + index * 60_000).toISOString(),
    text: usualText(index),
    attachments: [],
    visibility: 'dm',
    homeId: place.homeId,
    ...(index % 2 === 1
      ? { role: 'assistant', author: 'Discoclaw', ids: [id], replyTo: [idOf(index - 1)] }
      : { role: 'user', author: 'Alice', authorId: aliceId }),
  };
}
