import { readConfig, type Environment } from '../config/config.ts';
import { RecentChanges } from '../core/changes.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { createLogger } from '../observability/logger.ts';
import { createSharedSpending } from '../observability/shared-spending.ts';
import { createSpending } from '../observability/spending.ts';
import { lapseKey } from '../turn/after-turn.ts';
import { createChannelJournal } from '../turn/journal.ts';
import { createLayers } from './layers.ts';
import { assertMemory, openStore } from './open-store.ts';

const clock = () => new Date();

/** All people's memory, with the store for this process alone; the bot itself is not there. @throws {StoreError} where it runs. @throws {RangeError} without a data folder. */
export async function openMemory(environment: Environment) {
  const { config } = readConfig(environment);
  const logger = createLogger({ level: 'warn' });
  await assertMemory(config);
  const { store, shared, close } = await openStore(config, { as: 'alone', clock, logger });
  const work = shared?.work;
  const recent = new RecentChanges();
  const journal = createChannelJournal({ store, changes: recent });
  const memory = createLayers(config, {
    store,
    model: { isOffline: true, complete: () => Promise.reject(new Error('No model is asked')) },
    recent,
    writes: createKeyedQueue(),
    answers: {
      ...journal,
      async erase(userId, before, channelIds) {
        for (const { place, replyIds } of await journal.erase(userId, before, channelIds))
          await journal.hide(place.channelId, replyIds);
      },
    },
    server: { hasSeveral: () => false },
    costs: (store.isShared ? createSharedSpending : createSpending)({
      store,
      clock,
      timer: () => () => {},
      timeZone: config.timeZone,
      limits: {},
      tellOwner: () => Promise.resolve(),
      logger,
    }).layer,
    processes: shared?.processes,
    lapseAt: work && ((userId, time) => work.add(userId, lapseKey, time)),
    wakeAt: () => {},
    timer: () => () => {},
    changed: () => {},
    endWork: () => {},
    clock,
    logger,
  });
  return { memory, close };
}
