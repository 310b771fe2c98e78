import type { Config } from '../config/config.ts';
import type { RecentChanges } from '../core/changes.ts';
import type { ServerPort } from '../core/chat.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import type { ModelClient } from '../core/model.ts';
import type { SessionKey } from '../core/place.ts';
import type { Store } from '../core/store.ts';
import type { Clock } from '../core/time.ts';
import type { Tool } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { createChangeLedger, type AnswerKeeper, type ChangeLedger } from '../memory/changes.ts';
import { createDurableMemory, type DurableMemory } from '../memory/durable/durable-memory.ts';
import { createExtractionFold } from '../memory/durable/extraction-fold.ts';
import { createExtraction } from '../memory/durable/extraction.ts';
import { createForgetItemTool, createRememberItemTool } from '../memory/durable/tools.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import { createQuota } from '../memory/log/quota.ts';
import { createSessionLog } from '../memory/log/session-log.ts';
import { createSessionStates, type FoldName } from '../memory/log/session-state.ts';
import { createNotebook, notebookOpener } from '../memory/notebook/notebook.ts';
import { createReflection, reflectWhenDue } from '../memory/notebook/reflection.ts';
import { createWeeklyTrim } from '../memory/notebook/weekly-trim.ts';
import { createWorkspace } from '../memory/notebook/workspace.ts';
import { createMessageSource } from '../memory/recall/messages.ts';
import { createRecall } from '../memory/recall/recall.ts';
import { createDetailSource, createItemSource, createNotebookSource } from '../memory/recall/sources.ts';
import { createRecallTool } from '../memory/recall/tool.ts';
import { createRollingSummary } from '../memory/rolling/rolling-summary.ts';
import { createPlaceSettings } from '../memory/settings/place-settings.ts';
import { createShortTerm } from '../memory/short-term/short-term.ts';
import { runToolLoop } from '../model/tool-loop.ts';

/** What the bot is called in logs and summaries. */
export const botName = 'Discoclaw';

export interface LayerPorts {
  readonly store: Store;
  readonly model: ModelClient;
  readonly recent: RecentChanges;
  /** The users' write queue, shared by commands and all after-turn work [S3]. */
  readonly writes: KeyedQueue;
  readonly answers: AnswerKeeper;
  readonly server: Pick<ServerPort, 'count'>;
  /** A session is to be looked at again at a time, in place of any time given before. */
  readonly wakeAt: (session: SessionKey, time: Date) => void;
  /** A session has changed: what was made of it is to be made anew. */
  readonly changed: (session: SessionKey) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

export type Memory = ReturnType<typeof createLayers>;

/** All memory as configured: the list of layers, in the order in which they fold a turn [A1]; the ledger that tells them of changes; the tools of those that are on. */
export function createLayers(config: Config, ports: LayerPorts) {
  const { store, model, writes, clock, logger } = ports;
  const { timeZone } = config;
  const states = createSessionStates({ store, writes });
  const sessionLog = createSessionLog({
    store,
    writes,
    changes: ports.recent,
    clock,
    botName,
    activeFolds: activeFolds(config),
  });
  const shortTerm = createShortTerm({
    settings: config.shortTerm,
    store,
    states,
    log: sessionLog,
    clock,
    timeZone,
  });
  const rolling = createRollingSummary({
    settings: config.summary,
    store,
    states,
    log: sessionLog,
    model,
    clock,
    timeZone,
    logger,
  });
  const durable: DurableMemory = createDurableMemory({
    settings: config.durable,
    store,
    writes,
    changes: { forget: (...asked) => changes.forget(...asked) },
    extract:
      config.durable.enabled && config.durable.extractionEnabled ? (...work) => extract(...work) : undefined,
    clock,
    logger,
    timeZone,
  });
  const extract = createExtractionFold({
    extraction: createExtraction({ model, modelName: config.model.fast, durable, logger }),
    sessionLog,
    states,
    logger,
  });
  const background = {
    store,
    writes,
    states,
    openNotebook: notebookOpener({ writes, timeZone }),
    modelName: config.model.fast,
    clock,
    logger,
  };
  const reflection = createReflection({
    ...background,
    sessionLog,
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
  const { trimIfDue } = createWeeklyTrim({
    ...background,
    model,
    profileMaxChars: config.notebook.profileMaxChars,
  });
  const notebook = createNotebook({
    settings: config.notebook,
    store,
    writes,
    states,
    log: sessionLog,
    background: [
      ...(config.reflection.enabled ? [reflectWhenDue({ reflection, wakeAt: ports.wakeAt, clock })] : []),
      ...(config.reflection.weeklyTrimEnabled ? [trimIfDue] : []),
    ],
    timeZone,
    logger,
  });
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
  const layers: readonly MemoryLayer[] = [sessionLog, shortTerm, rolling, durable, notebook, recall];
  const keepWithinQuota = createQuota({
    store,
    writes,
    log: sessionLog,
    states,
    maxBytes: config.storage.personQuotaBytes,
    folds: [...activeFolds(config), ...(config.summary.enabled ? (['rolling'] as const) : [])],
    dropIndex: (userId) => recall.erase({ userId, sessions: [], isWhole: false }),
    logger,
  });
  const changes: ChangeLedger = createChangeLedger({
    store,
    recent: ports.recent,
    writes,
    log: sessionLog,
    layers,
    answers: ports.answers,
    changed: ports.changed,
    logger,
  });
  const stillThere = (session: SessionKey, id: string) => sessionLog.message(session, id);
  const answerBefore = (turn: TurnContext) => sessionLog.answerBefore(turn);
  const tools: readonly Tool[] = [
    ...notebook.tools,
    ...(config.recall.enabled ? [createRecallTool(recall, config.recall.defaultLimit)] : []),
    ...(config.durable.enabled
      ? [
          createRememberItemTool({ durable, stillThere, answerBefore }),
          createForgetItemTool({ durable, answerBefore }),
        ]
      : []),
  ];
  return {
    layers,
    /** All that is done after a turn, in order [A1]. */
    afterTurn: [...layers, { name: 'quota', fold: keepWithinQuota }],
    changes,
    sessionLog,
    states,
    shortTerm,
    rolling,
    durable,
    recall,
    workspace: createWorkspace({ store, server: ports.server, logger }),
    placeSettings: createPlaceSettings({ store, logger }),
    tools,
  };
}

/** The layers with a cursor that are switched on. */
function activeFolds({ shortTerm, durable, reflection }: Config): readonly FoldName[] {
  return [
    ...(shortTerm.enabled ? (['shortTerm'] as const) : []),
    ...(durable.enabled && durable.extractionEnabled ? (['extraction'] as const) : []),
    ...(reflection.enabled ? (['reflection'] as const) : []),
  ];
}
