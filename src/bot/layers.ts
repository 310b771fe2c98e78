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
import type { LateNotice, Tool } from '../core/tool.ts';
import type { TurnContext } from '../core/turn-context.ts';
import { createChannelNotes } from '../memory/channel/channel-notes.ts';
import { createChangeLedger, type ChangeLedger } from '../memory/changes.ts';
import type { AnswerKeeper } from '../memory/change-records.ts';
import { createControlTool } from '../memory/control-tool.ts';
import { createDurableMemory, type DurableMemory } from '../memory/durable/durable-memory.ts';
import { createExtractionCursors, createExtractionFold } from '../memory/durable/extraction-fold.ts';
import { stillNamed } from '../memory/durable/notices.ts';
import { createExtraction } from '../memory/durable/extraction.ts';
import { createForgetItemTool, createRememberItemTool } from '../memory/durable/tools.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import { createGonePlaces } from '../memory/gone-places.ts';
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

/** What the bot is called in logs and summaries. */
export const botName = 'Discoclaw';

export interface LayerPorts {
  readonly store: Store;
  readonly model: ModelClient;
  readonly recent: RecentChanges;
  /** The users' write queue, shared by commands and all after-turn work [S3]. */
  readonly writes: KeyedQueue;
  readonly answers: AnswerKeeper;
  /** Takes out answers that were kept for messages which are too old [K15]; resolves with how many. Default: none are kept. */
  readonly dropAnswers?: (isPast: (messageId: string) => boolean) => Promise<number>;
  /** Takes a channel's journal out for good. Default: there is none. */
  readonly dropJournal?: (channelId: string) => Promise<void>;
  readonly server: Pick<ServerPort, 'hasSeveral'>;
  /** Default: nothing is known of channels. */
  readonly channels?: ChannelPort;
  /** What a person's model calls cost today, which goes with the rest. Default: it is not known. */
  readonly costs?: MemoryLayer | undefined;
  /** A session is to be looked at again at a time, in place of any time given before. */
  readonly wakeAt: (session: SessionKey, time: Date) => void;
  /** A session has changed: what was made of it is to be made anew; where messages came back, its history too. */
  readonly changed: (session: SessionKey, hasMoreHistory?: true) => void;
  /** Ends what runs and waits for a person outside of memory, as the ledger asks for. Must not throw. */
  readonly endWork: (userId: string, erasedBy: 'here' | 'elsewhere') => void;
  /** Tells people what was stored of what they said. Must not reject. Default: nobody is told. */
  readonly tellStored?: (stored: readonly LateNotice[]) => Promise<void>;
  readonly processes: Processes;
  /** Has somebody look from a time on at what of a person's is over. Rejects with `StoreError`. */
  readonly lapseAt: (userId: string, time?: Date) => Promise<void>;
  readonly clock: Clock;
  readonly timer: Timer;
  readonly logger: Logger;
}

export type Memory = ReturnType<typeof createLayers>;

/** All memory as configured: the list of layers, in the order in which they fold a turn [A1]; the ledger that tells them of changes; the tools of those that are on. */
export function createLayers(config: Config, ports: LayerPorts) {
  const { store, model, writes, channels = unknownChannels, clock, logger } = ports;
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
    paused: (userId, channelId) => channelNotes.dropOf(userId, channelId),
    clock,
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
  const shortTerm = createShortTerm({
    settings: config.shortTerm,
    store,
    states,
    log: sessionLog,
    goneChannels: () => gonePlaces.channels(),
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
    finalise: (change) => changes.finalise(change),
    resume: (change) => durable.settleUndo(change),
    lapseAt: ports.lapseAt,
    clock,
    logger,
  });
  const undoable = createUndoableNotes({ store, writes, undo });
  const durable: DurableMemory = createDurableMemory({
    settings: config.durable,
    store,
    writes,
    changes: {
      forget: (...asked) => changes.forget(...asked),
      restore: (...taken) => changes.restore(...taken),
    },
    undo,
    notes: undoable.part,
    notesSaying: channelNotes.saying,
    noticing: createExtractionCursors({ store, sessionsOf: sessionLog.sessionsOfPerson }),
    extract:
      config.durable.enabled && config.durable.extractionEnabled ? (...work) => extract(...work) : undefined,
    clock,
    logger,
    timeZone,
  });
  const proposals = createProposals({
    store,
    writes,
    durable,
    modeOf: people.mode,
    said: (session, messageId) => sessionLog.message(session, messageId),
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
      tell: ports.tellStored,
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
      ...(config.reflection.enabled
        ? [reflectWhenDue({ reflection, wakeAt: ports.wakeAt, modeOf: people.mode, clock })]
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
      const [sessions, gone] = await Promise.all([
        sessionLog.sessionsOfPerson(userId),
        gonePlaces.channels(),
      ]);
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
  const layers: readonly MemoryLayer[] = [
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
  ];
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
    mayStore: (session) => people.mayStore(session),
    placeOf: channels.placeOf,
    changed: ports.changed,
    endWork: ports.endWork,
    noteErased: (userId, at) => people.noteErased(userId, at),
    processes: ports.processes,
    clock,
    timer: ports.timer,
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
    dropAnswers: ports.dropAnswers ?? (() => Promise.resolve(0)),
    locks: ports.processes.locks,
    clock,
    timer: ports.timer,
    timeZone,
    logger,
  });
  const gonePlaces = createGonePlaces({
    store,
    writes,
    log: sessionLog,
    layers: [shortTerm, rolling, notebook, recall, provenance, sessionLog],
    forgetNotes: channelNotes.forgetGuild,
    dropJournal: ports.dropJournal ?? (() => Promise.resolve()),
    clock,
    timer: ports.timer,
    logger,
  });
  const stillThere = (session: SessionKey, id: string) => sessionLog.message(session, id);
  const answerBefore = (turn: TurnContext) => sessionLog.answerBefore(turn);
  const tools: readonly Tool[] = [
    ...notebook.tools,
    ...(config.recall.enabled ? [createRecallTool(recall, config.recall.defaultLimit)] : []),
    ...(config.durable.enabled
      ? [
          createRememberItemTool({
            durable,
            proposals,
            stillThere,
            answerBefore,
          }),
          createForgetItemTool({ durable, answerBefore }),
          createControlTool({ durable, people }),
        ]
      : []),
  ];
  return {
    layers,
    /** All that is done after a turn, in order [A1]. */
    afterTurn: [...layers, { name: 'quota', fold: keepWithinQuota }],
    changes,
    retention,
    gonePlaces,
    undo,
    proposals,
    /** Has everybody looked at who has something that lapses. Never rejects. */
    lapseEverybody: () => lapseEverybody([undoFile, proposalsFile], ports),
    /** Whether what a late notice names is there yet. */
    isNamed: stillNamed({ durable, proposals, recent: ports.recent }),
    sessionLog,
    states,
    shortTerm,
    rolling,
    durable,
    recall,
    provenance,
    /** The layers that keep notes. */
    noted: [rolling, notebook, channelNotes],
    workspace: createWorkspace({ store, server: ports.server, logger }),
    placeSettings,
    channelNotes,
    people,
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
