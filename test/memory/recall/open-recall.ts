import type { Place } from '../../../src/core/place.ts';
import { createDurableMemory, type DurableMemory } from '../../../src/memory/durable/durable-memory.ts';
import {
  createDetailSource,
  createItemSource,
  createMessageSource,
} from '../../../src/memory/recall/sources.ts';
import { createRecall, type RecallOptions, type RecallRequest } from '../../../src/memory/recall/recall.ts';
import { aliceId, generalId, publicPlace } from '../../support/incoming.ts';
import { dmPlace, openSessions, silent } from '../../support/sessions.ts';
import { durableSettings } from '../../support/layer-settings.ts';
import { unconditional } from '../../../src/core/writes.ts';

/** Where Alice's notes of #general lie. */
export const detailFolder = `sessions/${generalId}/${aliceId}/detail`;

/** Recall over sessions in memory, asked by Alice in her DM unless told otherwise. */
export function openRecall(options: Partial<RecallOptions> = {}, sessions = openSessions()) {
  const { store, writes, clock, log } = sessions;
  const durable: DurableMemory = createDurableMemory({
    settings: durableSettings,
    store,
    writes,
    forgetting: sessions.forgettingOver([]),
    clock,
    timeZone: 'UTC',
    logger: silent,
  });
  const recall = createRecall({
    sources: [
      createMessageSource(log),
      createDetailSource(store, log),
      createItemSource(durable),
      ...(options.sources ?? []),
    ],
    timeZone: 'UTC',
    ...(options.maxUnits === undefined ? {} : { maxUnits: options.maxUnits }),
  });

  function search(query: string, changes: Partial<RecallRequest> = {}) {
    const speaker = { id: aliceId, isOwner: false };
    const request = {
      queries: [query],
      scope: 'all',
      limit: 5,
      speaker,
      place: dmPlace,
      excluded: [],
    } as const;
    return recall.search({ ...request, now: clock(), ...changes });
  }

  /** The texts of what is found, best first. */
  async function find(query: string, changes: Partial<RecallRequest> = {}): Promise<string[]> {
    return (await search(query, changes)).map(({ unit }) => unit.text);
  }

  async function remember(text: string, place: Place = publicPlace): Promise<void> {
    const messageId = '400000000000000999';
    await durable.remember(unconditional(aliceId), { kind: 'fact', text, type: 'manual', place, messageId });
  }

  return { ...sessions, durable, recall, search, find, remember };
}
