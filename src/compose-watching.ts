import type { StatusSources } from './compose-status.ts';
import type { Config } from './config/config.ts';
import type { Clock } from './core/time.ts';
import type { Logger } from './core/logger.ts';
import type { ModelClient } from './core/model.ts';
import type { Store } from './core/store.ts';
import type { Presence } from './discord/presence.ts';
import { callCost } from './model/anthropic/models.ts';
import { UsageMeter } from './observability/usage-meter.ts';
import { watchModel } from './observability/watched-model.ts';
import { watchStore } from './observability/watched-store.ts';
import type { FileStore } from './storage/files/store.ts';
import { processTimer } from './turn/idle-sessions.ts';

export interface WatchedEdges {
  readonly store: Store;
  readonly model: ModelClient;
  readonly statusSources: StatusSources;
  /** Writes what was gathered. Never rejects. */
  readonly flush: () => Promise<void>;
}

/** The same store and model, watched for the status and for what the bot's presence says. */
export function watchEdges(
  config: Config,
  edges: {
    readonly files: FileStore;
    readonly model: ModelClient;
    readonly presence: Presence;
    readonly pingMs: () => number | undefined;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): WatchedEdges {
  const { files, presence, pingMs, clock, logger } = edges;
  const { store, lastWrite } = watchStore(files, clock);
  const usage = new UsageMeter({
    store,
    clock,
    timer: processTimer,
    timeZone: config.timeZone,
    costOf: callCost,
    logger,
  });
  const model = watchModel(edges.model, {
    mainModel: config.model.main,
    clock,
    onState(state) {
      if (state.kind === 'unreachable')
        logger.warn('the model is out of reach', { failure: state.failure, model: config.model.main });
      else logger.info('the model can be reached again', { model: config.model.main });
      presence.show(state.kind === 'reachable' ? 'well' : 'out-of-reach');
    },
    onUsage(name, used) {
      if (!edges.model.isOffline) usage.add(name, used);
    },
  });
  if (model.isOffline) presence.show('stand-in');
  return {
    store,
    model,
    statusSources: {
      model,
      pingMs,
      usageOfToday: () => usage.today(),
      lastWrite,
      quarantined: () => files.quarantined(),
    },
    flush: () => usage.flush(),
  };
}
