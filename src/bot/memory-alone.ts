import { readConfig, type Config, type Environment } from '../config/config.ts';
import { RecentChanges } from '../core/changes.ts';
import { createOneProcess } from '../core/processes.ts';
import type { SetAside } from '../core/store.ts';
import { createLogger } from '../observability/logger.ts';
import { createSpending } from '../observability/spending.ts';
import { createOutbox } from '../turn/outbox.ts';
import { createEvents } from './bot-ports.ts';
import { createLayers, unknownChannels, type LayerPorts, type Memory } from './layers.ts';
import { openStore } from './open-store.ts';

const clock = () => new Date();

/** For use without answers and history. */
export const noAnswers: LayerPorts['answers'] = {
  deleteUnsent: () => Promise.resolve(),
  hide: () => Promise.resolve(),
  unhide: () => Promise.resolve(),
  markHandled: () => Promise.resolve(),
  erase: () => Promise.resolve(),
  noteErased: () => {},
  dropPast: () => Promise.resolve(0),
  drop: () => Promise.resolve(),
};

/** All layers without a bot: no model, and nothing in the background. */
export function layersAlone(
  config: Config,
  ports: Pick<LayerPorts, 'store' | 'logger'> & Partial<LayerPorts>,
): Memory {
  return createLayers(config, {
    model: { isOffline: true, complete: () => Promise.reject(new Error('No model is asked')) },
    recent: new RecentChanges(),
    events: createEvents(),
    answers: noAnswers,
    channels: unknownChannels,
    server: { hasSeveral: () => false },
    timer: () => () => {},
    processes: createOneProcess(),
    expireAt: () => Promise.resolve(),
    clock,
    ...ports,
  });
}

/** All memory, for this process alone. @throws {StoreError} where the bot runs. */
export async function openMemory(environment: Environment) {
  const { config } = readConfig(environment);
  const logger = createLogger({ level: 'warn' });
  const setAside: SetAside[] = [];
  const opened = await openStore(config, {
    as: 'alone',
    onSetAside: (file) => void setAside.push(file),
    clock,
    logger,
  });
  const { store, shared } = opened;
  const recent = new RecentChanges();
  const outbox = createOutbox({ store, changes: recent });
  const memory = layersAlone(config, {
    store,
    recent,
    answers: {
      ...outbox,
      async erase(userId, before, channelIds) {
        for (const { place, replyIds } of await outbox.erase(userId, before, channelIds))
          await outbox.hide(place.channelId, replyIds);
      },
    },
    costs: createSpending({
      store,
      clock,
      timeZone: config.timeZone,
      limits: {},
      tellOwner: () => Promise.resolve(),
      logger,
    }).layer,
    processes: shared?.processes ?? createOneProcess(),
    logger,
  });
  return {
    memory,
    /** Notes what could not be read: the bot tells people when it runs again [S5]. */
    close: async (): Promise<void> => {
      for (const file of setAside) memory.setAside.note(file);
      await memory.setAside.idle();
      await opened.close();
    },
  };
}
