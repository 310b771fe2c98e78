import program from '../../package.json' with { type: 'json' };

import type { StatusFacts } from '../commands/status-command.ts';
import type { Config } from '../config/config.ts';
import { askers, type BotSettings } from '../memory/settings/bot-settings.ts';
import { dataLine } from '../core/section.ts';
import type { Clock } from '../core/time.ts';
import type { UsageReport } from '../core/model.ts';
import type { LastWrite, Store } from '../core/store.ts';
import { priceListDate } from '../model/anthropic/models.ts';
import type { WatchedModel } from '../observability/watched-model.ts';

export interface StatusSources {
  readonly model: Pick<WatchedModel, 'isOffline' | 'state' | 'openCalls' | 'refused' | 'limitsOf'>;
  readonly gateway: () => Pick<
    StatusFacts,
    'pingMs' | 'readsContent' | 'malformed' | 'lockedOut' | 'servers' | 'shards'
  >;
  /** `undefined` before the bot is connected. */
  readonly letIn?: () => Promise<readonly string[] | undefined>;
  readonly usage: () => Promise<UsageReport>;
  readonly lastWrite: () => LastWrite | undefined;
  readonly quarantined: () => Promise<readonly string[]>;
}

const folders = ['users', 'sessions', 'channels', 'guilds'] as const;

/** Reads this process's status; leaves out what the store cannot tell. */
export function createReadStatus(
  config: Config,
  ports: {
    readonly store: Pick<Store, 'list'>;
    readonly botSettings: Pick<BotSettings, 'read'>;
    readonly clock: Clock;
    readonly mainModel: () => Promise<string>;
    readonly queues: () => Pick<StatusFacts, 'turns' | 'afterTurn' | 'writes' | 'unwritten' | 'noRoomFor'>;
    readonly sources: StatusSources;
  },
): () => Promise<StatusFacts> {
  const { store, clock, mainModel, sources } = ports;
  const startedAt = clock().getTime();
  return async () => {
    const [main, letIn, settings, usage, kept, quarantined] = await Promise.all([
      mainModel(),
      sources.letIn?.(),
      ports.botSettings.read().catch(unknown),
      sources.usage().catch(unknown),
      keptIn(store).catch(unknown),
      sources.quarantined().catch(unknown),
    ]);
    const now = clock();
    const { fast } = config.model;
    return {
      version: program.version,
      upMs: now.getTime() - startedAt,
      now,
      models: sources.model.isOffline ? undefined : { main, fast },
      modelState: sources.model.state,
      refused: sources.model.refused,
      modelLimits: sources.model.limitsOf?.(main),
      ...sources.gateway(),
      letIn: letIn?.map(dataLine),
      askers: settings && askers(settings, 'waiting'),
      ...ports.queues(),
      modelCalls: sources.model.openCalls,
      pricesOf:
        Object.keys(config.model.prices).length === 0 ? priceListDate : `${priceListDate} and your own`,
      lastWrite: sources.lastWrite(),
      usage,
      kept,
      quarantined,
    };
  };
}

const unknown = () => undefined;

async function keptIn(store: Pick<Store, 'list'>) {
  const lists = await Promise.all(folders.map((folder) => store.list(folder)));
  const [users = [], sessions = []] = lists.map((files) => files.map(({ path }) => path.split('/')));
  const people = [...users.map(([userId]) => userId), ...sessions.map(([, userId]) => userId)];
  const files = lists.flat();
  return {
    sessions: new Set(sessions.map(([channelId, userId]) => `${channelId}/${userId}`)).size,
    users: new Set(people).size,
    files: files.length,
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
