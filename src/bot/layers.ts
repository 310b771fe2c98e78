import type { Config } from '../config/config.ts';
import type { ChannelPort, ServerPort } from '../core/channels.ts';
import type { SessionKey } from '../core/place.ts';
import type { ModelClient, WithPauses } from '../core/model.ts';
import type { Processes } from '../core/processes.ts';
import type { Timer } from '../core/time.ts';
import type { Tool } from '../core/tool.ts';
import { createWrites } from '../core/writes.ts';
import { type ChangeLedgerPorts, createChangeLedger } from '../memory/changes.ts';
import type { AnswerKeeper } from '../memory/deleting.ts';
import { createControlTool } from '../memory/control-tool.ts';
import { createDurableMemory } from '../memory/durable/durable-memory.ts';
import { stillNamed } from '../memory/durable/notices.ts';
import { createExtraction } from '../memory/durable/extraction.ts';
import { createForgetting } from '../memory/forgetting.ts';
import { createForgetItemTool, createRememberItemTool } from '../memory/durable/tools.ts';
import type { MemoryLayer } from '../memory/layer.ts';
import { createGonePlaces, goneChannels, type PresentGuilds } from '../memory/gone-places.ts';
import { createSessionLog } from '../memory/log/session-log.ts';
import { type FoldName, createSessionStates } from '../memory/log/session-state.ts';
import { createNotebook } from '../memory/notebook/notebook.ts';
import { createUndoableNotes } from '../memory/notebook/undoable.ts';
import { createReflection } from '../memory/notebook/reflection.ts';
import { createWeeklyTrim } from '../memory/notebook/weekly-trim.ts';
import { createWorkspace } from '../memory/notebook/workspace.ts';
import { createProvenance } from '../memory/provenance.ts';
import {
  createDetailSource,
  createItemSource,
  createMessageSource,
  createNotebookSource,
} from '../memory/recall/sources.ts';
import { createRecall } from '../memory/recall/recall.ts';
import { createReminders, remindersOf } from '../memory/reminders/reminders.ts';
import { createReminderTool } from '../memory/reminders/tool.ts';
import { createRecallTool } from '../memory/recall/tool.ts';
import { createRollingSummary } from '../memory/rolling/rolling-summary.ts';
import { createBotSettings } from '../memory/settings/bot-settings.ts';
import { createErasures } from '../memory/settings/erasures.ts';
import { createOneTimeNotices } from '../memory/settings/one-time-notices.ts';
import { createPersonSettings } from '../memory/settings/person-settings.ts';
import { createPlaceSettings } from '../memory/settings/place-settings.ts';
import { createShortTerm } from '../memory/short-term/short-term.ts';
import { createRetention, tooMuch, tooOld } from '../memory/retention.ts';
import { createSweeper, type SweepRow } from '../memory/sweeper.ts';
import { createProposals } from '../memory/durable/proposals.ts';
import { runToolLoop } from '../model/tool-loop.ts';
import type { Outbox } from '../turn/outbox.ts';
import type { BotPorts, Events, KeepingPorts, TimePorts } from './bot-ports.ts';

/** What the bot is called in logs and summaries. */
export const botName = 'Discoclaw';

export interface LayerPorts
  extends
    Pick<KeepingPorts, 'store' | 'recent'>,
    Pick<TimePorts, 'clock'>,
    Pick<BotPorts, 'logger'>,
    Pick<ChangeLedgerPorts, 'turnsOver'> {
  readonly model: ModelClient;
  /** Around all background work that asks the model. */
  readonly withPauses: WithPauses;
  readonly events: Events;
  readonly channels: ChannelPort;
  readonly answers: AnswerKeeper & Pick<Outbox, 'dropPast' | 'drop' | 'guildOf'>;
  readonly server: Pick<ServerPort, 'hasSeveral'>;
  /** The person's spending today, which is exported and erased with the rest. */
  readonly costs?: MemoryLayer;
  readonly processes: Processes;
  /** Schedules a look at the person's expiring records. Rejects with `StoreError`. */
  readonly expireAt: (userId: string, time?: Date) => Promise<void>;
  readonly timer: Timer;
}

export type Memory = ReturnType<typeof createLayers>;

/** What layers rest on: each person's writes, the log, and settings. */
function createStores(config: Config, ports: LayerPorts) {
  const { store, recent, model, withPauses, channels, processes, events, expireAt, clock, timer, logger } =
    ports;
  const { timeZone } = config;
  const erasures = createErasures(store);
  const writes = createWrites({
    locks: processes.locks,
    erasedAt: erasures.at,
    written: (userId) => void events.written.emit(userId),
    clock,
  });
  const basics = { store, recent, writes, model, withPauses, expireAt, clock, timer, timeZone, logger };
  const log = createSessionLog({
    ...basics,
    changes: recent,
    placeOf: channels.placeOf,
    botName,
    activeFolds: activeFolds(config),
  });
  const people = createPersonSettings({ ...basics, defaultMode: config.memoryMode });
  return {
    ...basics,
    log,
    erasures,
    states: createSessionStates(basics),
    people,
    timeZoneOf: people.timeZoneOf,
    botSettings: createBotSettings(store),
    placeSettings: createPlaceSettings({ ...basics, noMemoryIds: config.storage.noMemoryChannelIds }),
  };
}

/** All memory as configured: the layers in the order in which they fold a turn [A1], their ledger and tools. */
export function createLayers(config: Config, ports: LayerPorts) {
  const { events, channels, answers, processes } = ports;
  const kept = createStores(config, ports);
  const { store, recent, writes, log: sessionLog, states, people } = kept;
  const { model, clock, timeZone, logger } = kept;
  /** Everything that holds something of people; filled below. */
  const layers: MemoryLayer[] = [];
  const changes = createChangeLedger({
    ...kept,
    layers,
    answers,
    mayStore: (session, at) => people.mayStore(session, at === undefined ? undefined : new Date(at)),
    placeOf: channels.placeOf,
    changed: (...args) => void events.changed.emit(...args),
    endWork: (...args) => void events.erased.emit(...args),
    turnsOver: ports.turnsOver,
    noteErased: kept.erasures.note,
    processes,
  });
  const shortTerm = createShortTerm({
    ...kept,
    settings: config.shortTerm,
    goneChannels: () => goneChannels(store),
  });
  const rolling = createRollingSummary({ ...kept, settings: config.summary });
  const undoable = createUndoableNotes(kept);
  const forgetting = createForgetting({
    ...kept,
    changes,
    answers,
    notesSaying: async (withdrawn) => [
      ...(await notebook.saying(withdrawn)),
      ...(await rolling.holding(
        withdrawn.session,
        withdrawn.messages.map(({ sequence }) => sequence),
      )),
    ],
    changed(userId, sessions) {
      recall.beginAgain(userId);
      for (const session of sessions) void events.changed.emit(session);
    },
  });
  const durable = createDurableMemory({
    ...kept,
    settings: config.durable,
    forgetting,
    parts: [undoable.part, forgetting.part],
    // What fell due while its message was forgotten comes now [RM7].
    undone: (userId) => reminders.refresh(userId),
  });
  const proposals = createProposals({ durable, modeOf: people.mode, textOf: sessionLog.message });
  const modelName = config.model.fast;
  const extract = createExtraction({
    ...kept,
    modelName,
    durable: proposals,
    tell: (stored) => events.stored.emit(stored),
    sessionLog,
    modeOf: people.mode,
  });
  const background = { ...kept, undoable, modelName };
  const { reflectIfDue } = createReflection({
    ...background,
    sessionLog,
    runLoop: (loop) =>
      runToolLoop({
        ...loop,
        client: model,
        mayBeSilent: true,
        deadlineMs: config.model.totalTimeoutMs,
        logger,
      }),
    idleMs: config.reflection.idleMs,
    wakeAt: (...args) => void events.due.emit(...args),
    modeOf: people.mode,
  });
  const { trimIfDue } = createWeeklyTrim({
    ...background,
    profileMaxChars: config.notebook.profileMaxChars,
  });
  const notebook = createNotebook({
    ...kept,
    settings: config.notebook,
    background: [
      ...(config.reflection.enabled ? [reflectIfDue] : []),
      ...(config.reflection.weeklyTrimEnabled ? [trimIfDue] : []),
    ],
    undoable,
  });
  /** Leaves out what was said in deleted channels [K15]. */
  const foundIn = {
    ...sessionLog,
    async sessionsOfPerson(userId: string): Promise<readonly SessionKey[]> {
      const [sessions, gone] = await Promise.all([sessionLog.sessionsOfPerson(userId), goneChannels(store)]);
      return sessions.filter(({ channelId }) => !gone.has(channelId));
    },
  };
  const recall = createRecall({
    sources: [
      createMessageSource(foundIn),
      createDetailSource(store, foundIn),
      createNotebookSource(store),
      ...(config.durable.enabled ? [createItemSource(durable)] : []),
    ],
    timeZone,
  });
  const provenance = createProvenance(kept);
  const reminders = createReminders({
    ...kept,
    wakeAt: (userId, at) => kept.expireAt(remindersOf(userId), at),
    textOf: sessionLog.message,
  });
  layers.push(
    sessionLog,
    shortTerm,
    rolling,
    durable,
    notebook,
    recall,
    provenance,
    people.layer,
    forgetting.layer,
    reminders.layer,
    ...(ports.costs === undefined ? [] : [ports.costs]),
  );
  const retention = createRetention(config.storage.retentionDays, clock);
  /** What holds conversations and what was made of them, the log last, by which the next sweep knows of them. */
  const ofSessions = [shortTerm, rolling, notebook, recall, provenance, sessionLog];
  const gonePlaces = createGonePlaces({ ...kept, layers: ofSessions, outbox: answers });
  const sweeper = createSweeper({ ...kept, locks: processes.locks });
  /** Deletes what can be undone no more of a person, and what nobody said yes to; to be called again where it rejects. */
  async function expire(userId: string): Promise<void> {
    await undoable.expire(userId);
    await durable.expireItems(userId);
    await changes.finishFor(userId);
  }
  const rows = {
    'over time': async ({ people: everybody }) => {
      await everybody(reminders.refresh);
      await everybody(expire);
      for (const id of await changes.ids()) await changes.finishFor(id);
    },
    ...(config.storage.retentionDays > 0 && {
      'too old': tooOld({
        ...kept,
        retention,
        changes,
        durable,
        layers: ofSessions,
        dropAnswers: answers.dropPast,
      }),
    }),
    'too much': tooMuch({
      ...kept,
      maxBytes: config.storage.personQuotaBytes,
      folds: [...activeFolds(config), ...(config.summary.enabled ? (['rolling'] as const) : [])],
    }),
  } satisfies Record<string, SweepRow>;
  const tools: readonly Tool[] = [
    ...notebook.tools,
    ...(config.recall.enabled ? [createRecallTool(recall, config.recall.defaultLimit)] : []),
    ...(config.durable.enabled
      ? [
          createRememberItemTool({ durable, proposals, sessionLog }),
          createForgetItemTool({ durable }),
          createControlTool({ durable, people }),
        ]
      : []),
    createReminderTool({ ...kept, reminders, shownClock: people.shownClock }),
  ];
  return {
    layers,
    /** What is done after a turn, in order [A1]. */
    afterTurn: [
      shortTerm,
      rolling,
      ...(config.durable.enabled && config.durable.extractionEnabled
        ? [{ name: 'extraction', fold: extract }]
        : []),
      notebook,
    ],
    changes,
    forgetting,
    retention,
    gonePlaces,
    /** Starts all that deletes old data [K15]. Never throws. */
    sweep: (guilds: PresentGuilds) => sweeper.start({ ...rows, 'gone place': gonePlaces.sweep(guilds) }),
    sweeper,
    expire,
    goneChannels: () => goneChannels(store),
    proposals,
    reminders,
    /** Whether what a late notice names still exists. */
    isNamed: stillNamed({ durable, proposals, recent }),
    states,
    sessionLog,
    placeSettings: kept.placeSettings,
    botSettings: kept.botSettings,
    people,
    shortTerm,
    rolling,
    durable,
    recall,
    provenance,
    writes,
    noted: [rolling, notebook],
    notes: { export: notebook.purgeable },
    notebook: notebook.files,
    untold: [undoable.untold, reminders.untold],
    workspace: createWorkspace({ store, server: ports.server, logger }),
    oneTimeNotices: createOneTimeNotices({
      people,
      commandsEnabled: config.commandsEnabled,
      clock,
      logger,
    }),
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
