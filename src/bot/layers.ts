import type { Config } from '../config/config.ts';
import type { Clock } from '../core/time.ts';
import type { Logger } from '../core/logger.ts';
import type { ModelClient } from '../core/model.ts';
import type { SectionReader } from '../core/section.ts';
import type { Store } from '../core/store.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { createDurableMemory } from '../memory/durable/durable-memory.ts';
import { createNotebook, notebookOpener } from '../memory/notebook/notebook.ts';
import { createWithdrawNotes } from '../memory/notebook/withdraw.ts';
import { createWorkspace } from '../memory/notebook/workspace.ts';
import { createPlaceSettings } from '../memory/settings/place-settings.ts';
import { createMessageSource } from '../memory/recall/messages.ts';
import { createDetailSource, createItemSource, createNotebookSource } from '../memory/recall/sources.ts';
import { createRecall } from '../memory/recall/recall.ts';
import { createRollingSummary } from '../memory/rolling/rolling-summary.ts';
import type { FoldName, SessionStates } from '../memory/log/session-state.ts';
import type { SessionLog } from '../memory/log/session-log.ts';
import type { DurableMemory } from '../memory/durable/durable-memory.ts';
import type { RollingSummary } from '../memory/rolling/rolling-summary.ts';
import type { ShortTerm } from '../memory/short-term/short-term.ts';
import { createSessionLog } from '../memory/log/session-log.ts';
import { createSessionStates } from '../memory/log/session-state.ts';
import { createShortTerm } from '../memory/short-term/short-term.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import { createExtraction } from '../memory/durable/extraction.ts';
import { createReflection } from '../memory/notebook/reflection.ts';
import { createWeeklyTrim } from '../memory/notebook/weekly-trim.ts';
import { runToolLoop } from '../model/tool-loop.ts';
import type { AfterTurnStep, IdleSessions } from '../turn/after-turn.ts';
import { createExtractionStep } from '../turn/extraction-step.ts';
import { createReflectionStep } from '../turn/reflection-step.ts';
import { createForgetItemTool, createRememberItemTool } from '../memory/durable/tools.ts';
import { createRecallTool } from '../memory/recall/tool.ts';

/** What the bot is called in logs and summaries. */
const botName = 'Discoclaw';

export interface LayerPorts {
  readonly store: Store;
  readonly model: ModelClient;
  /** The users' write queue, shared by commands and all after-turn work [S3]. */
  readonly writes: KeyedQueue;
  readonly idleSessions: Pick<IdleSessions, 'wakeAt'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type Memory = ReturnType<typeof createLayers>;

/** All memory layers as configured, with what they give to the prompt, the tools of those that are on, and their work after a turn, in order [A1]. */
export function createLayers(config: Config, ports: LayerPorts) {
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
  const readers: readonly SectionReader<TurnContext>[] = [
    ...notebook.readers,
    ...(config.durable.enabled ? [durable.reader] : []),
    shortTerm.reader,
    rolling.reader,
  ];
  const tools = [
    ...notebook.tools,
    ...(config.recall.enabled ? [createRecallTool(recall, config.recall.defaultLimit)] : []),
    ...(config.durable.enabled
      ? [
          createRememberItemTool({ durable, stillThere: (session, id) => sessionLog.message(session, id) }),
          createForgetItemTool({ durable }),
        ]
      : []),
  ];
  return {
    recall,
    sessionLog,
    states,
    durable,
    rolling,
    shortTerm,
    workspace,
    notebook,
    placeSettings,
    readers,
    tools,
    afterTurnSteps: afterTurnSteps(config, { sessionLog, states, durable, rolling, shortTerm }, ports),
  };
}

interface FoldedMemory {
  readonly sessionLog: SessionLog;
  readonly states: SessionStates;
  readonly durable: DurableMemory;
  readonly rolling: RollingSummary;
  readonly shortTerm: ShortTerm;
}

/** What comes after a turn, in order [A1]. */
function afterTurnSteps(config: Config, memory: FoldedMemory, ports: LayerPorts): readonly AfterTurnStep[] {
  return [...memorySteps(config, memory, ports), ...notebookSteps(config, memory, ports)];
}

function memorySteps(
  config: Config,
  memory: FoldedMemory,
  { model, logger }: LayerPorts,
): readonly AfterTurnStep[] {
  const { durable, rolling, shortTerm, sessionLog, states } = memory;
  const steps: AfterTurnStep[] = [
    {
      name: 'short-term',
      async run(_userId, sessions) {
        for (const session of sessions) await shortTerm.record(session);
      },
    },
    {
      name: 'rolling summary',
      async run(_userId, sessions, signal) {
        if (!config.summary.enabled) return;
        for (const session of sessions) await rolling.updateIfDue(session, signal);
      },
    },
  ];
  if (config.durable.enabled && config.durable.extractionEnabled) {
    const extraction = createExtraction({ model, modelName: config.model.fast, durable, logger });
    steps.push(createExtractionStep({ extraction, sessionLog, states, logger }));
  }
  return steps;
}

/** What keeps notebooks after a turn [A3][N7]. */
function notebookSteps(
  config: Config,
  { states, sessionLog }: FoldedMemory,
  ports: LayerPorts,
): readonly AfterTurnStep[] {
  const { timeZone } = config;
  const { model, logger, clock, idleSessions } = ports;
  const common = {
    ...ports,
    states,
    sessionLog,
    modelName: config.model.fast,
    openNotebook: notebookOpener({ writes: ports.writes, timeZone }),
  };
  const steps: AfterTurnStep[] = [];
  if (config.reflection.enabled) {
    const reflection = createReflection({
      ...common,
      runLoop: (request, tools, context, signal, maxRounds) =>
        runToolLoop({
          client: model,
          request,
          tools,
          context,
          maxRounds,
          mayBeSilent: true,
          deadlineMs: config.model.totalTimeoutMs,
          ...(signal === undefined ? {} : { signal }),
          logger,
        }),
      idleMs: config.reflection.idleMs,
      timeZone,
    });
    steps.push(createReflectionStep({ reflection, idleSessions, clock }));
  }
  if (config.reflection.weeklyTrimEnabled) {
    const trim = createWeeklyTrim({ ...common, profileMaxChars: config.notebook.profileMaxChars });
    steps.push({
      name: 'weekly trim',
      async run(_userId, sessions, signal) {
        for (const session of sessions) await trim.trimIfDue(session, signal);
      },
    });
  }
  return steps;
}
