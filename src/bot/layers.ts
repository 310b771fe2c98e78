import type { Config } from '../config/config.ts';
import type { RecentChanges } from '../core/changes.ts';
import type { ChannelPort, ServerPort } from '../core/chat.ts';
import type { KeyedQueue } from '../core/keyed-queue.ts';
import type { Logger } from '../core/logger.ts';
import type { ModelClient } from '../core/model.ts';
import type { SessionKey } from '../core/place.ts';
import type { Processes } from '../core/processes.ts';
import type { Store } from '../core/store.ts';
import type { Clock, Timer } from '../core/time.ts';
import type { Tool } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { createChannelNotes } from '../memory/channel/channel-notes.ts';
import { createChangeLedger } from '../memory/changes.ts';
import type { AnswerKeeper } from '../memory/change-records.ts';
import { createControlTool } from '../memory/control-tool.ts';
import { createDurableMemory } from '../memory/durable/durable-memory.ts';
import { createExtractionCursors, createExtractionFold } from '../memory/durable/extraction-fold.ts';
import { stillNamed } from '../memory/durable/notices.ts';
import { createExtraction } from '../memory/durable/extraction.ts';
import { createForgetItemTool, createRememberItemTool } from '../memory/durable/tools.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import { createGonePlaces, goneChannels } from '../memory/gone-places.ts';
import { createQuota } from '../memory/log/quota.ts';
import { createSessionLog } from '../memory/log/session-log.ts';
import { createSessionStates, type FoldName } from '../memory/log/session-state.ts';
import { createNotebook, notebookOpener } from '../memory/notebook/notebook.ts';
import { createUndoableNotes } from '../memory/notebook/undoable.ts';
import { createReflection, reflectWhenDue } from '../memory/notebook/reflection.ts';
import { createWeeklyTrim } from '../memory/notebook/weekly-trim.ts';
import { createWorkspace } from '../memory/notebook/workspace.ts';
import { createProvenance } from '../memory/provenance.ts';
import { createMessageSource } from '../memory/recall/messages.ts';
import { createRecall } from '../memory/recall/recall.ts';
import { createDetailSource, createItemSource, createNotebookSource } from '../memory/recall/sources.ts';
import { createRecallTool } from '../memory/recall/tool.ts';
import { createRollingSummary } from '../memory/rolling/rolling-summary.ts';
import { createGreeting } from '../memory/settings/greeting.ts';
import { createSetAsideLines } from '../memory/settings/set-aside.ts';
import { createPersonSettings } from '../memory/settings/person-settings.ts';
import { createPlaceSettings } from '../memory/settings/place-settings.ts';
import { createShortTerm } from '../memory/short-term/short-term.ts';
import { createRetention } from '../memory/retention.ts';
import { lapseEverybody } from '../memory/lapsing-log.ts';
import { createUndoLog, undoFile } from '../memory/undo.ts';
import { createProposals, proposalsFile } from '../memory/durable/proposals.ts';
import { itemMaxChars } from '../memory/durable/remember-item.ts';
import { runToolLoop } from '../model/tool-loop.ts';
import type { ChannelJournal } from '../turn/journal.ts';
import type { Events } from './events.ts';

/** What the bot is called in logs and summaries. */
export const botName = 'Discoclaw';

export interface LayerPorts {
  readonly store: Store;
  readonly recent: RecentChanges;
  /** The users' write queue, shared by commands and all after-turn work [S3]. */
  readonly writes: KeyedQueue;
  readonly events: Events;
  /** Default: nothing is known of channels. */
  readonly channels?: ChannelPort;
  readonly model: ModelClient;
  readonly answers: AnswerKeeper & Pick<ChannelJournal, 'dropPast' | 'drop'>;
  readonly server: Pick<ServerPort, 'hasSeveral'>;
  /** What a person's model calls cost today, which goes with the rest. Default: it is not known. */
  readonly costs?: MemoryLayer;
  readonly processes: Processes;
  /** Has somebody look from a time on at what of a person's is over. Rejects with `StoreError`. */
  readonly lapseAt: (userId: string, time?: Date) => Promise<void>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

export type Memory = ReturnType<typeof createLayers>;

/** All memory as configured: the layers, in the order in which they fold a turn [A1], their ledger and their tools. */
export function createLayers(config: Config, ports: LayerPorts) {
  const { store, model, writes, events, channels = unknownChannels, clock, timer, logger } = ports;
  const { timeZone } = config;
  const states = createSessionStates({ store, writes });
  const sessionLog = createSessionLog({
    store,
    writes,
    changes: ports.recent,
    placeOf: channels.placeOf,
    clock,
    botName,
    activeFolds: activeFolds(config),
  });
  const placeSettings = createPlaceSettings({
    store,
    noMemoryIds: config.storage.noMemoryChannelIds,
    logger,
  });
  const people = createPersonSettings({
    store,
    writes,
    defaultMode: config.memoryMode,
    paused: (...told) => events.paused.emit(...told),
    clock,
    logger,
  });
  /** All that hold something of people; each stands in it once it is made. */
  const layers: MemoryLayer[] = [];
  const changes = createChangeLedger({
    store,
    recent: ports.recent,
    writes,
    log: sessionLog,
    layers,
    answers: ports.answers,
    mayStore: (session) => people.mayStore(session),
    placeOf: channels.placeOf,
    changed: (...told) => void events.changed.emit(...told),
    endWork: (...told) => void events.erased.emit(...told),
    noteErased: (userId, at) => people.noteErased(userId, at),
    processes: ports.processes,
    clock,
    timer,
    logger,
  });
  const channelNotes = createChannelNotes({
    store,
    writes,
    channels,
    settings: placeSettings,
    people,
    guildsOf: sessionLog.guildsOf,
    timeZone,
    recent: ports.recent,
    logger,
  });
  events.paused.on(channelNotes.dropOf);
  const shortTerm = createShortTerm({
    settings: config.shortTerm,
    store,
    states,
    log: sessionLog,
    goneChannels: () => goneChannels(store),
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
  const undo = createUndoLog({
    store,
    finalise: changes.finalise,
    resume: (change) => events.halfUndone.emit(change),
    lapseAt: ports.lapseAt,
    clock,
    logger,
  });
  const undoable = createUndoableNotes({ store, writes, undo });
  const durable = createDurableMemory({
    settings: config.durable,
    store,
    writes,
    changes,
    undo,
    notes: undoable.part,
    notesSaying: channelNotes.saying,
    noticing: createExtractionCursors({ store, sessionsOf: sessionLog.sessionsOfPerson }),
    clock,
    logger,
    timeZone,
  });
  events.halfUndone.on(durable.settleUndo);
  const proposals = createProposals({
    store,
    writes,
    durable,
    modeOf: people.mode,
    said: sessionLog.message,
    limits: { maxItems: config.durable.maxItems, maxTextLength: itemMaxChars },
    lapseAt: ports.lapseAt,
    clock,
    logger,
  });
  const extract = createExtractionFold({
    extraction: createExtraction({
      model,
      modelName: config.model.fast,
      timeZone,
      durable: proposals,
      tell: (stored) => events.stored.emit(stored),
      logger,
    }),
    sessionLog,
    states,
    modeOf: people.mode,
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
        signal,
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
      ...(config.reflection.enabled
        ? [
            reflectWhenDue({
              reflection,
              wakeAt: (...told) => void events.due.emit(...told),
              modeOf: people.mode,
              clock,
            }),
          ]
        : []),
      ...(config.reflection.weeklyTrimEnabled ? [trimIfDue] : []),
    ],
    undoable,
    timeZone,
    logger,
  });
  /** What was said in a deleted channel is found no more [K15]. */
  const foundIn = {
    ...sessionLog,
    async sessionsOfPerson(userId: string): Promise<readonly SessionKey[]> {
      const [sessions, gone] = await Promise.all([sessionLog.sessionsOfPerson(userId), goneChannels(store)]);
      return sessions.filter(({ channelId }) => !gone.has(channelId));
    },
  };
  const messages = createMessageSource(foundIn);
  const recall = createRecall({
    sources: [
      messages,
      createDetailSource(store, foundIn, messages),
      createNotebookSource(store),
      ...(config.durable.enabled ? [createItemSource(durable)] : []),
    ],
    timeZone,
    forgotten: (userId) => durable.forgotten(userId),
  });
  const provenance = createProvenance({ store, writes, log: sessionLog });
  layers.push(
    sessionLog,
    shortTerm,
    rolling,
    durable,
    proposals.layer,
    channelNotes,
    notebook,
    recall,
    provenance,
    people.layer,
    ...(ports.costs === undefined ? [] : [ports.costs]),
  );
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
  const retention = createRetention({
    days: config.storage.retentionDays,
    store,
    writes,
    log: sessionLog,
    changes,
    durable,
    layers: [shortTerm, rolling, notebook, recall, sessionLog],
    dropNotes: channelNotes.expire,
    dropAnswers: (isPast) => ports.answers.dropPast(isPast),
    locks: ports.processes.locks,
    clock,
    timer,
    timeZone,
    logger,
  });
  const gonePlaces = createGonePlaces({
    store,
    writes,
    log: sessionLog,
    layers: [shortTerm, rolling, notebook, recall, provenance, sessionLog],
    forgetNotes: channelNotes.forgetGuild,
    dropJournal: ports.answers.drop,
    clock,
    timer,
    logger,
  });
  const { message: stillThere } = sessionLog;
  const answerBefore = (turn: TurnContext) => sessionLog.answerBefore(turn);
  const tools: readonly Tool[] = [
    ...notebook.tools,
    ...(config.recall.enabled ? [createRecallTool(recall, config.recall.defaultLimit)] : []),
    ...(config.durable.enabled
      ? [
          createRememberItemTool({ durable, proposals, stillThere, answerBefore }),
          createForgetItemTool({ durable, answerBefore }),
          createControlTool({ durable, people }),
        ]
      : []),
  ];
  return {
    layers,
    /** All that is done after a turn, in order [A1]. */
    afterTurn: [
      shortTerm,
      rolling,
      ...(config.durable.enabled && config.durable.extractionEnabled
        ? [{ name: 'extraction', fold: extract }]
        : []),
      notebook,
      { name: 'quota', fold: keepWithinQuota },
    ],
    changes,
    retention,
    gonePlaces,
    goneChannels: () => goneChannels(store),
    undo,
    proposals,
    /** Has everybody looked at who has something that lapses. Never rejects. */
    lapseEverybody: () => lapseEverybody([undoFile, proposalsFile], ports),
    /** Whether what a late notice names is there yet. */
    isNamed: stillNamed({ durable, proposals, recent: ports.recent }),
    states,
    sessionLog,
    placeSettings,
    people,
    shortTerm,
    rolling,
    durable,
    recall,
    provenance,
    /** The layers that keep notes. */
    noted: [rolling, notebook, channelNotes],
    workspace: createWorkspace({ store, server: ports.server, logger }),
    channelNotes,
    setAside: createSetAsideLines({ people, logger }),
    greeting: createGreeting({
      settings: people,
      store,
      log: sessionLog,
      commandsEnabled: config.commandsEnabled,
      clock,
      logger,
    }),
    tools,
  };
}

export const unknownChannels: ChannelPort = {
  placeOf: () => Promise.resolve(undefined),
  personMay: () => Promise.resolve(false),
};

/** The layers with a cursor that are switched on. */
function activeFolds({ shortTerm, durable, reflection }: Config): readonly FoldName[] {
  return [
    ...(shortTerm.enabled ? (['shortTerm'] as const) : []),
    ...(durable.enabled && durable.extractionEnabled ? (['extraction'] as const) : []),
    ...(reflection.enabled ? (['reflection'] as const) : []),
  ];
}
