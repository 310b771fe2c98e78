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
import type { OtherProcesses } from './processes.ts';

export interface StatusSources {
  readonly model: Pick<WatchedModel, 'isOffline' | 'state' | 'openCalls' | 'refused'>;
  readonly gateway: () => Pick<
    StatusFacts,
    'pingMs' | 'readsContent' | 'malformed' | 'lockedOut' | 'servers' | 'shards'
  >;
  /** `undefined` before the bot is connected. */
  readonly letIn?: () => Promise<readonly string[] | undefined>;
  readonly usage: () => Promise<UsageReport>;
  readonly lastWrite: () => LastWrite | undefined;
  readonly quarantined: () => Promise<number>;
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
    readonly sources: StatusSources;
  },
  queues: () => Pick<StatusFacts, 'turns' | 'afterTurn' | 'writes'>,
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
      ...sources.gateway(),
      letIn: letIn?.map(dataLine),
      askers: settings && askers(settings, 'waiting'),
      ...queues(),
      modelCalls: sources.model.openCalls,
      pricesOf:
        Object.keys(config.model.prices).length === 0 ? priceListDate : `${priceListDate} and your own`,
      lastWrite: sources.lastWrite(),
      usage,
      kept,
      quarantined,
      retentionDays: config.storage.retentionDays,
      limits: config.limits,
      noMemoryChannels: config.storage.noMemoryChannelIds.length,
    };
  };
}

/** Reads the status of all processes of this machine; those that do not answer are left out. */
export function statusOfAll(
  readOwn: () => Promise<StatusFacts>,
  others: OtherProcesses | undefined,
): () => Promise<StatusFacts> {
  if (others === undefined) return readOwn;
  return async () => {
    const own = await readOwn();
    const found = (await others.ask('status', [])).flatMap((facts) => facts ?? []);
    return addUpStatus(own, found, others.count);
  };
}

/** The status of several processes over one store; `asked` counts the others that were asked. */
export function addUpStatus(own: StatusFacts, others: readonly StatusFacts[], asked: number): StatusFacts {
  const all = [own, ...others];
  const sum = (of: (facts: StatusFacts) => number | undefined): number =>
    all.reduce((total, facts) => total + (of(facts) ?? 0), 0);
  const pings = all.flatMap(({ pingMs }) => pingMs ?? []);
  const writes = all.flatMap(({ lastWrite }) => lastWrite ?? []);
  const newest = writes.toSorted((a, b) => b.at.getTime() - a.at.getTime());
  const refused = new Map(
    all.flatMap((facts) => (facts.refused ?? []).map((each) => [JSON.stringify(each), each])),
  );
  const { shards } = own;
  const ids = all.flatMap((facts) => facts.shards?.ids ?? []).toSorted((a, b) => a - b);
  return {
    ...own,
    upMs: Math.max(...all.map(({ upMs }) => upMs)),
    modelState:
      all.map(({ modelState }) => modelState).find(({ kind }) => kind !== 'reachable') ?? own.modelState,
    refused: [...refused.values()],
    pingMs: pings.length === 0 ? undefined : Math.max(...pings),
    readsContent: all.every(({ readsContent }) => readsContent !== false),
    malformed: sum(({ malformed }) => malformed),
    lockedOut: sum(({ lockedOut }) => lockedOut),
    servers: sum(({ servers }) => servers),
    shards: shards && { ...shards, ids },
    processes: { asked: asked + 1, answering: all.length },
    turns: {
      running: sum(({ turns }) => turns.running),
      waiting: sum(({ turns }) => turns.waiting),
      stopped: sum(({ turns }) => turns.stopped),
    },
    afterTurn: sum(({ afterTurn }) => afterTurn),
    writes: sum((facts) => facts.writes),
    modelCalls: {
      running: sum(({ modelCalls }) => modelCalls.running),
      waiting: sum(({ modelCalls }) => modelCalls.waiting),
    },
    lastWrite: newest.find(({ isOk }) => !isOk) ?? newest[0],
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
