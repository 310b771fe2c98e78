import { createEvents } from '../../src/bot/bot-ports.ts';
import { createLayers, type LayerPorts, type Memory } from '../../src/bot/layers.ts';
import type { Config } from '../../src/config/config.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { createOneProcess } from '../../src/core/processes.ts';

/** For use without answers and history. */
export const noAnswers: LayerPorts['answers'] = {
  deleteUnsent: () => Promise.resolve(),
  hide: () => Promise.resolve(),
  markHandled: () => Promise.resolve(),
  erase: () => Promise.resolve(),
  dropPast: () => Promise.resolve(0),
  drop: () => Promise.resolve(),
  guildOf: () => Promise.resolve({ kind: 'unknown' }),
};

/** All layers without a bot: no model, and nothing in the background. */
export function layersAlone(
  config: Config,
  ports: Pick<LayerPorts, 'store' | 'logger'> & Partial<LayerPorts>,
): Memory {
  return createLayers(config, {
    model: { isOffline: true, complete: () => Promise.reject(new Error('No model is asked')) },
    withPauses: (_, work) => work(),
    recent: new RecentChanges(),
    events: createEvents(),
    answers: noAnswers,
    channels: { placeOf: () => Promise.resolve(undefined) },
    server: { hasSeveral: () => false },
    timer: () => () => {},
    processes: createOneProcess(),
    expireAt: () => Promise.resolve(),
    clock: () => new Date(),
    ...ports,
  });
}
