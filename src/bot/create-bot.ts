import { randomBytes } from 'node:crypto';

import type { StatusFacts } from '../commands/status-command.ts';
import type { Config } from '../config/config.ts';
import type { CommandRequest } from '../core/commands.ts';
import { endableTimer, nextDayAt, processTimer } from '../core/time.ts';
import { measure } from '../core/logger.ts';
import { createOneProcess } from '../core/processes.ts';
import type { SetAside } from '../core/store.ts';
import { createWorkQueue } from '../core/work-queue.ts';
import { createAccessRequests } from '../turn/access-requests.ts';
import { createAfterTurn, expiryKey, mayFold } from '../turn/after-turn.ts';
import { createCommandOrder, runCommand } from '../turn/commands.ts';
import { createHearing } from '../turn/hearing.ts';
import { createIntake } from '../turn/intake.ts';
import { outboxInJobs } from '../turn/outbox.ts';
import { personaSource } from '../memory/settings/place-settings.ts';
import type { PresentGuilds } from '../memory/gone-places.ts';
import { createNoteTaking } from '../memory/channel/note-taking.ts';
import { cachePrice, callCost } from '../model/anthropic/models.ts';
import { createMediaBudget } from '../model/media.ts';
import { createLateNotices, createMemoryNotices } from '../turn/notices.ts';
import { createPauseNotes } from '../turn/pauses.ts';
import { PromptComposer } from '../turn/prompt-input.ts';
import { createChannelReading, createReadChannelTool } from '../turn/read-channel.ts';
import { createRecovery, takeAwayErased } from '../turn/recover.ts';
import { type TurnPorts, runTurn } from '../turn/run-turn.ts';
import { SessionTurns } from '../turn/sessions.ts';
import { createTurnLimits } from '../turn/turn-limits.ts';
import { WaitingReactions } from '../turn/waiting-reactions.ts';
import { createCommands } from './commands.ts';
import { type BotPorts, createEvents, createKnownChannels } from './bot-ports.ts';
import { createModelChoice } from './create-model.ts';
import { botName, createLayers, unknownChannels } from './layers.ts';
import { createReadStatus, statusOfAll } from './status.ts';

/** The bot without its edges: everything between the gateway's events and the ports. */
export type Bot = ReturnType<typeof createBot>;

export function createBot(config: Config, ports: BotPorts) {
  const { store, model, recent, replies, reactions, presentPlace, clock, logger } = ports;
  const { directMessages, ownerIds, offers, statusSources, spending, channels = unknownChannels } = ports;
  const { timer, end: endTimers } = endableTimer(ports.timer ?? processTimer);
  const basics = { store, model, recent, channels, clock, timer, logger };
  const { processes, work } = ports.shared ?? {
    processes: createOneProcess(),
    work: createWorkQueue(basics),
  };
  const events = createEvents();
  const memory = createLayers(config, {
    ...basics,
    events,
    answers: {
      ...ports.outbox,
      async erase(userId, before, channelIds) {
        const unfinished = await ports.outbox.erase(userId, before, channelIds);
        // Not awaited: Discord may be slow, and nothing depends on it.
        for (const reply of unfinished) void takeAwayErased({ outbox: ports.outbox, replies, logger }, reply);
      },
    },
    server: ports.server,
    costs: spending?.layer,
    processes,
    expireAt: (userId, time) => work.add(userId, expiryKey, time),
    turnsOver: (userId) => turns.overFor(userId),
  });
  const { states, sessionLog, placeSettings: settings, people, writes } = memory;
  const { greeting, setAside, retention, gonePlaces, provenance, channelNotes } = memory;
  const outbox = outboxInJobs(ports.outbox, { writes, begin: sessionLog.listSession, people });
  const modelChoice = createModelChoice(config, memory.botSettings, ports.listModels ?? (async () => []));
  const history = retention.young(ports.history);
  const { timeZone, commandsEnabled } = config;
  const shared = {
    ...basics,
    history,
    outbox,
    replies,
    presentPlace,
    settings,
    people,
    log: sessionLog,
    begin: writes.begin,
    botName,
    timeZone,
  };
  const noteTaking = createNoteTaking({
    ...shared,
    notes: channelNotes,
    modelName: config.model.fast,
    hasAccess: ports.hasAccess ?? (async () => false),
    isForgotten: (...asked) => memory.durable.wasForgotten(...asked),
    idleMs: config.channelNotes.idleMs,
  });
  const afterTurn = createAfterTurn({
    ...shared,
    layers: memory.afterTurn,
    work,
    heldUntil: spending?.heldUntil,
    async expire(userId) {
      for (const { expire } of [memory.undo, memory.proposals]) await expire(userId);
    },
    isWanted: (session) =>
      mayFold(session, { states, sessionLog, settings, people, goneChannels: memory.goneChannels, logger }),
  });
  events.changed.on((session) => afterTurn.schedule(session));
  events.due.on((session, time) => afterTurn.schedule(session, time));
  events.erased.on((userId, erasedBy) => {
    // What waits for all processes is dropped by the one that erases.
    if (erasedBy === 'here') void work.drop(userId);
    else work.end(userId);
  });
  const commandOrder = createCommandOrder();
  const waitingReactions = new WaitingReactions({ reactions, timer, clock });
  const actions = config.discord.actionsEnabled ? ports.actions : undefined;
  const hearing = createHearing({ ...ports, log: sessionLog });
  memory.layers.push(hearing.layer);
  const prompts = new PromptComposer({
    ...shared,
    history: hearing.history(history),
    timeZoneOf: people.timeZoneOf,
    always: [memory.workspace.channelContext, personaSource(settings)],
    layers: memory.layers,
    actions,
    soul: memory.workspace.soul,
    attachments: ports.attachments,
    readReplied: hearing.replied(retention.youngReplied(ports.readReplied)),
    historyBudget: config.prompt.historyBudget,
    maxChars: config.prompt.maxChars,
    cachePrice: cachePrice(config.model.main),
  });
  events.changed.on((session, hasMoreHistory) => {
    if (hasMoreHistory !== true) return;
    prompts.renew(session);
    processes.notices.tell({ kind: 'restored', session });
  });
  events.erased.on((userId) => prompts.evict(userId));
  events.erased.on((userId) => offers.endOffersTo(userId));
  const channelReading = createChannelReading({
    ...shared,
    readChannel: hearing.talk(retention.youngTalk(ports.readChannel)),
    modelName: config.model.fast,
  });
  const memoryNotices = createMemoryNotices({ people, commandsEnabled });
  const lateNotices = createLateNotices({ ...shared, memoryNotices, isNamed: memory.isNamed });
  events.stored.on(async (stored) => {
    for (const late of await lateNotices.tell(stored))
      processes.notices.tell({ kind: 'stored', stored: late });
  });
  const limits = createTurnLimits({
    ...shared,
    turnsPerMinute: config.limits.turnsPerMinute,
    budgetResetsAt: () => nextDayAt(clock(), timeZone),
    directMessages,
    now: () => performance.now(),
  });
  const turnPorts: TurnPorts = {
    ...shared,
    commandOrder,
    changes: memory.changes,
    waitingReactions,
    pauseNotes: createPauseNotes(clock),
    memoryNotices,
    lateNotices,
    greeting,
    setAside,
    provenance,
    channelNotes,
    prompts,
    hearing,
    memoryTools: memory.tools,
    readingTools: [createReadChannelTool(channelReading)],
    actionTools: actions?.tools ?? [],
    mediaBudget: createMediaBudget(),
    limits,
    mainModel: modelChoice.current,
    costOf: (name, used) => (ports.model.isOffline ? 0 : callCost(name, used, config.model.prices)),
    answerTimeoutMs: config.model.totalTimeoutMs,
    afterTurn,
    offers,
    makeReference: () => randomBytes(3).toString('hex'),
  };
  const turns = new SessionTurns(
    async (messages, control) => {
      const outcome = await runTurn(messages, control, turnPorts);
      measure('turn', { outcome });
      return outcome;
    },
    recent,
    limits.mayBegin,
  );
  recent.subscribe((change) => turns.follow(change));
  events.erased.on((userId) => turns.endTurnsOf(userId));
  processes.notices.listen((notice) => {
    switch (notice.kind) {
      case 'erased':
        return memory.changes.erasedElsewhere(notice);
      case 'restored':
        return prompts.renew(notice.session);
      case 'stored':
        return void lateNotices.tell([notice.stored]);
      case 'written':
        return ports.page?.memoryChanged(notice.userId);
    }
  });
  if (ports.page !== undefined) {
    const { memoryChanged, erased } = ports.page;
    events.written.on((userId) => {
      memoryChanged(userId);
      processes.notices.tell({ kind: 'written', userId });
    });
    events.erased.on(erased);
  }
  const queues = () => ({ turns: turns.open, afterTurn: work.size, writes: writes.size });
  const readOwnStatus =
    statusSources &&
    createReadStatus(
      config,
      {
        store,
        botSettings: memory.botSettings,
        clock,
        mainModel: modelChoice.current,
        sources: statusSources,
      },
      queues,
    );
  const readStatus = readOwnStatus && statusOfAll(readOwnStatus, ports.others);
  const commands = createCommands(config, memory, {
    ...shared,
    directMessages,
    readAttachment: ports.readAttachment,
    server: ports.server,
    page: ports.page,
    others: ports.others,
    ownerIds,
    modelChoice,
    tellOfChannel: (wish, asker) => channelReading.tell(wish, asker),
    readStatus,
  });
  const askOwner = createAccessRequests({
    ...shared,
    botSettings: memory.botSettings,
    directMessages,
    ownerIds,
  });
  const commandPorts = { ...shared, handle: (request: CommandRequest) => commands.command(request) };
  const handlers = createIntake({
    ...shared,
    turns,
    waitingReactions,
    reactions,
    runCommand: (message, command) => runCommand(message, command, commandPorts),
    commands,
    order: commandOrder,
    changes: recent,
    record: memory.changes.record,
    erased: memory.changes.erased,
    erasedBy: (userId, ifUnknown) => people.erasedBy(userId, ifUnknown),
    onUserMessage: (said) => noteTaking.onUserMessage(said),
    lockedOut: config.discord.accessRequests ? askOwner : async () => undefined,
  });
  const recovery = createRecovery({
    ...shared,
    sessionLog,
    afterTurn,
    finishChanges: memory.changes.finish,
    discordClock: ports.discordClock,
  });

  /** Resolves when no turn and no after-turn work runs or waits. */
  async function idle(): Promise<void> {
    const parts = [retention, gonePlaces, noteTaking, turns, work, writes];
    for (const part of parts) await part.idle();
  }

  return {
    handlers,
    commands,
    sizesOf: async (userId: string) => provenance.sizesOf(userId),
    /** Of this process; `undefined` without `statusSources`. */
    status: async (): Promise<StatusFacts | undefined> => readOwnStatus?.(),
    /** Tells the person that a file of theirs could not be read [S5]. */
    noteSetAside: (file: SetAside): void => setAside.note(file),
    answerModes: settings,
    addedAccess: memory.botSettings.read,
    /** Logs which channel contexts of the workspace are unused. Never rejects. */
    nameUnusedContexts: memory.workspace.nameUnusedContexts,
    tellOwners: limits.tellOwners,
    /** Whether a person had the first words [K12], and was not erased since. Never rejects. */
    wasGreeted: (userId: string): Promise<boolean> =>
      people.latest(userId).then(
        ({ greetedAt }) => greetedAt !== undefined,
        () => false,
      ),
    /** Whether a person takes what a proxy posts as their words [G2a]. */
    proxyConsent: {
      has: async (userId: string, appId: string): Promise<boolean> =>
        (await people.latest(userId)).proxyIds?.includes(appId) === true,
      async give(userId: string, appId: string): Promise<void> {
        const { proxyIds = [] } = await people.latest(userId);
        await people.set(await writes.begin(userId), { proxyIds: [...new Set([...proxyIds, appId])] });
      },
    },
    /** The role that lets people into a guild, where one is set [V0]. */
    memberRole: settings.memberRole,
    ...createKnownChannels({ sessionLog, outbox, channelNotes }),
    /** The bot was removed from a guild that had these channels; not for outages. */
    guildLeft: (guildId: string, channelIds: readonly string[]) => gonePlaces.left(guildId, channelIds),
    /** Ends turns in deleted channels and threads, and stops using what was said there [K15]. Never rejects. */
    channelsDeleted: (channelIds: readonly string[]): Promise<void> => {
      for (const id of channelIds) turns.endIn(id);
      return gonePlaces.deleted(channelIds);
    },
    /** Finishes what a kill left undone; needs a connection. */
    recovery,
    /** Starts all that erases old data and data of left guilds [K15]. Never rejects. */
    async startRetention(presentGuilds: PresentGuilds): Promise<void> {
      await recovery.finishChanges();
      memory.changes.watch();
      void memory.expireEverybody();
      retention.start();
      gonePlaces.start(presentGuilds);
      await channelNotes.dropPaused(clock().toISOString(), processes.locks);
      await noteTaking.start(presentGuilds.areKnown);
    },
    idle,
    openWork: () => ({
      turns_running: turns.open.running,
      turns_waiting: turns.open.waiting,
      background_work: work.size,
      writes: writes.size,
    }),
    /** Stops intake; running work gets so many milliseconds, then it is left to the next start [G4]. */
    async drain(withinMs: number): Promise<void> {
      turns.stop();
      work.stopTaking();
      for (const part of [retention, gonePlaces, noteTaking, memory.changes]) part.stop();
      const timeUp = setTimeout(() => {
        logger.warn('running work is left to the next start', { withinMs });
        turns.abort();
        work.stop();
      }, withinMs);
      await idle();
      work.stop();
      clearTimeout(timeUp);
      endTimers();
    },
  };
}
