import type { Config } from './config/config.ts';
import type { Clock } from './core/time.ts';
import type { Logger } from './core/logger.ts';
import type { ModelClient } from './core/model.ts';
import type { SectionReader } from './core/section.ts';
import type { Store } from './core/store.ts';
import type { TurnContext } from './core/turn-context.ts';
import { createDurableMemory } from './memory/durable/durable-memory.ts';
import { createNotebook } from './memory/notebook/notebook.ts';
import { createWithdrawNotes } from './memory/notebook/withdraw.ts';
import { createWorkspace } from './memory/notebook/workspace.ts';
import { createPlaceSettings } from './memory/settings/place-settings.ts';
import { createMessageSource } from './memory/recall/messages.ts';
import { createRecall } from './memory/recall/recall.ts';
import { createDetailSource, createItemSource, createNotebookSource } from './memory/recall/sources.ts';
import { createRollingSummary } from './memory/rolling/rolling-summary.ts';
import type { FoldName } from './memory/session-log/seen-in.ts';
import { createSessionLog } from './memory/session-log/session-log.ts';
import { createSessionStates } from './memory/session-log/session-state.ts';
import { createShortTerm } from './memory/short-term/short-term.ts';
import type { KeyedQueue } from './core/keyed-queue.ts';
import { createMemorySwitch } from './turn/memory-switch.ts';

/** What the bot is called in logs and summaries. */
const botName = 'Discoclaw';

export interface MemoryPorts {
  readonly store: Store;
  readonly model: ModelClient;
  /** The users' write queue, shared by commands and all after-turn work [S3]. */
  readonly writes: KeyedQueue;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type Memory = ReturnType<typeof composeMemory>;

/**
 * All memory layers as configured. `readers` are those that are on, for the prompt; they and `turnLog` keep to the places where memory was
 * not switched off.
 */
export function composeMemory(config: Config, ports: MemoryPorts) {
  const { store, model, writes, clock, logger } = ports;
  const { timeZone } = config;
  const activeFolds: FoldName[] = [
    ...(config.shortTerm.enabled ? (['shortTerm'] as const) : []),
    ...(config.durable.enabled && config.durable.extractionEnabled ? (['extraction'] as const) : []),
    ...(config.reflection.enabled ? (['reflection'] as const) : []),
  ];
  const states = createSessionStates({ store, writes });
  const withdrawing = createWithdrawNotes({ store, writes, states, logger });
  const sessionLog = createSessionLog({ store, writes, clock, botName, activeFolds, withdrawing });
  const durable = createDurableMemory({
    store,
    writes,
    clock,
    logger,
    timeZone,
    maxItems: config.durable.maxItems,
    injectMaxChars: config.durable.injectMaxChars,
  });
  const rolling = createRollingSummary({
    store,
    states,
    log: sessionLog,
    model,
    modelName: config.summary.model,
    enabled: config.summary.enabled,
    everyTurns: config.summary.everyTurns,
    maxChars: config.summary.maxChars,
    clock,
    timeZone,
    logger,
  });
  const shortTerm = createShortTerm({
    store,
    states,
    log: sessionLog,
    writes,
    enabled: config.shortTerm.enabled,
    maxEntries: config.shortTerm.maxEntries,
    maxAgeHours: config.shortTerm.maxAgeHours,
    injectMaxChars: config.shortTerm.injectMaxChars,
    clock,
    timeZone,
  });
  const workspace = createWorkspace({ store, logger });
  const notebook = createNotebook({ store, writes, timeZone, ...config.notebook });
  const recall = createRecall({
    sources: [
      createMessageSource(sessionLog),
      createDetailSource(store, sessionLog),
      createNotebookSource(store),
      ...(config.durable.enabled ? [createItemSource(durable)] : []),
    ],
    timeZone,
    forgotten: (userId) => durable.forgotten(userId),
  });
  const placeSettings = createPlaceSettings({ store, logger });
  const memorySwitch = createMemorySwitch((place) => placeSettings.isMemoryOff(place));
  const readers: readonly SectionReader<TurnContext>[] = [
    ...workspace.readers,
    ...memorySwitch.readers([
      ...notebook.readers,
      ...(config.durable.enabled ? [durable.reader] : []),
      shortTerm.reader,
      rolling.reader,
    ]),
  ];
  return {
    recall,
    sessionLog,
    turnLog: memorySwitch.log(sessionLog),
    states,
    durable,
    rolling,
    shortTerm,
    workspace,
    notebook,
    placeSettings,
    memorySwitch,
    readers,
  };
}
