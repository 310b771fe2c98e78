import { randomBytes } from 'node:crypto';

import type { Config } from '../config/config.ts';
import type { CommandRequest, MenuRequest, Unstarted } from '../core/commands.ts';
import { endableTimer, nextDayAt, processTimer } from '../core/time.ts';
import { measure } from '../core/logger.ts';
import { createOneProcess } from '../core/processes.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { createWorkQueue } from '../core/work-queue.ts';
import { createAccessRequests } from '../turn/access-requests.ts';
import { createAfterTurn, expiryKey } from '../turn/after-turn.ts';
import { runCommand, createIntake } from '../turn/intake.ts';
import { createHearing } from '../turn/hearing.ts';
import { outboxInJobs } from '../turn/outbox.ts';
import { personaSource } from '../memory/settings/place-settings.ts';
import type { PresentGuilds } from '../memory/gone-places.ts';
import { personOfReminders, queuedNamesOf } from '../memory/reminders/reminders.ts';
import { createSignIn, type PagePath, type PagePerson } from '../page/sign-in.ts';
import { callCost } from '../model/anthropic/models.ts';
import { createMediaBudget } from '../model/media.ts';
import { createPauses } from '../model/pauses.ts';
import { createLateNotices, createMemoryNotices } from '../turn/notices.ts';
import { createPauseNotes, recordAsked } from '../turn/turn-memory.ts';
import { createPromptComposer } from '../turn/prompt-input.ts';
import { createChannelReading, createReadChannelTool } from '../turn/read-channel.ts';
import { createReminding } from '../turn/reminding.ts';
import { createRecovery, takeAwayErased } from '../turn/recover.ts';
import { type TurnPorts, runTurn } from '../turn/run-turn.ts';
import { createSessionTurns } from '../turn/sessions.ts';
import { createTurnLimits } from '../turn/turn-limits.ts';
import { createWaitingReactions } from '../turn/waiting-reactions.ts';
import { createCommands, createReadStatus } from './commands.ts';
import { type BotPorts, createEvents, createKnownChannels } from './bot-ports.ts';
import { createModelChoice } from './create-model.ts';
import { botName, createLayers } from './layers.ts';

/** How long what looks through everybody's data waits for missed messages, for the next one, and for turns [G3b]. */
const answersFirstMs = 60_000;
const quietMs = 1000;

/** The bot without its edges: everything between the gateway's events and the ports. */
export type Bot = ReturnType<typeof createBot>;

export function createBot(config: Config, ports: BotPorts) {
  const { keeping, discord, ownerIds, statusSources, logger } = ports;
  const { store, recent } = keeping;
  const { replies, reactions, presentPlace, directMessages, offers, channels } = discord;
  const { client: model, spending } = ports.model;
  const { clock, discordClock } = ports.time;
  const { timer, end: endTimers } = endableTimer(ports.time.timer ?? processTimer);
  const basics = { store, model, recent, channels, clock, timer, logger };
  const pause = (ms: number) => new Promise<void>((resolve) => void timer(resolve, ms));
  const { processes, work } = keeping.shared ?? {
    processes: createOneProcess(),
    work: createWorkQueue(basics),
  };
  const events = createEvents();
  const pauses = createPauses(clock);
  const memory = createLayers(config, {
    ...basics,
    events,
    withPauses: pauses.withPauses,
    answers: {
      ...keeping.outbox,
      async erase(userId, before, channelIds) {
        const unfinished = await keeping.outbox.erase(userId, before, channelIds);
        // Not awaited: Discord may be slow, and nothing depends on it.
        for (const reply of unfinished)
          void takeAwayErased({ outbox: keeping.outbox, replies, logger }, reply);
      },
    },
    server: discord.server,
    costs: spending?.layer,
    processes,
    expireAt: (userId, time) => work.add(userId, expiryKey, time),
    turnsOver: (userId) => turns.overFor(userId),
  });
  const { states, sessionLog, placeSettings: settings, people, writes } = memory;
  const { oneTimeNotices, retention, gonePlaces, sweeper, provenance } = memory;
  const outbox = outboxInJobs(keeping.outbox, { writes, begin: sessionLog.listSession, people });
  const modelChoice = createModelChoice(config, memory.botSettings, ports.model.list ?? (async () => []));
  const history = retention.young(discord.history);
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
  const reminding = createReminding({
    ...shared,
    reminders: memory.reminders,
    post: discord.reminders,
  });
  const afterTurn = createAfterTurn({
    ...shared,
    layers: memory.afterTurn,
    work,
    heldUntil: [pauses.heldUntil, ...(spending === undefined ? [] : [spending.heldUntil])],
    expire(name) {
      const userId = personOfReminders(name);
      return userId === undefined ? memory.expire(name) : reminding.remind(userId);
    },
    isHeld: memory.forgetting.isWaitedFor,
    states,
    goneChannels: memory.goneChannels,
  });
  events.changed.on((session) => afterTurn.schedule(session));
  events.due.on((session, time) => afterTurn.schedule(session, time));
  const commandOrder = createKeyedQueue();
  const asking = new Set<string>();
  const waitingReactions = createWaitingReactions({ reactions, timer, clock });
  const actions = config.discord.actionsEnabled ? discord.actions : undefined;
  const hearing = createHearing({
    ...shared,
    transcribe: ports.model.transcribe,
    readAttachment: discord.attachments.read,
  });
  memory.layers.push(hearing.layer);
  const prompts = createPromptComposer({
    ...shared,
    history: hearing.history(history),
    timeZoneOf: people.timeZoneOf,
    always: [memory.workspace.channelContext, personaSource(settings)],
    layers: memory.layers,
    actions,
    soul: memory.workspace.soul,
    attachments: discord.attachments,
    readReplied: hearing.replied(retention.youngReplied(discord.readReplied)),
    historyBudget: config.prompt.historyBudget,
    maxChars: config.prompt.maxChars,
  });
  const channelReading = createChannelReading({
    ...shared,
    readChannel: retention.youngTalk(discord.readChannel),
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
    pauseNotes: createPauseNotes(),
    memoryNotices,
    lateNotices,
    untold: memory.untold,
    oneTimeNotices,
    provenance,
    prompts,
    hearing,
    model: {
      client: model,
      current: modelChoice.current,
      costOf: (name, used) => (model.isOffline ? 0 : callCost(name, used, config.model.prices)),
      timeoutMs: config.model.totalTimeoutMs,
      answerTokens: config.model.answerMaxTokens,
      mediaBudget: createMediaBudget(),
    },
    tools: {
      memory: memory.tools,
      reading: [createReadChannelTool(channelReading)],
      actions: actions?.tools ?? [],
    },
    limits,
    afterTurn,
    offers,
    makeReference: () => randomBytes(3).toString('hex'),
  };
  const turns = createSessionTurns(
    async (messages, control) => {
      const outcome = await runTurn(messages, control, turnPorts);
      measure('turn', { outcome });
      return outcome;
    },
    recent,
    timer,
    limits.mayBegin,
  );
  recent.subscribe((change) => turns.follow(change));
  /** What runs, waits or is kept in memory for somebody ends with what is held of them [K11]. */
  events.erased.on(async (userId, erasedBy) => {
    // What waits for all processes is dropped by the one that erases.
    for (const name of queuedNamesOf(userId))
      if (erasedBy === 'here') void work.drop(name);
      else work.end(name);
    pauses.evict(userId);
    prompts.evict(userId);
    offers.endOffersTo(userId);
    lateNotices.evict(userId);
    turns.endTurnsOf(userId);
    ports.page?.memoryChanged(userId);
  });
  processes.notices.listen((notice) => {
    switch (notice.kind) {
      case 'erased':
        return memory.changes.erasedElsewhere(notice);
      case 'stored':
        return void lateNotices.tell([notice.stored]);
      case 'written':
        return ports.page?.memoryChanged(notice.userId);
    }
  });
  events.written.on((userId) => {
    ports.page?.memoryChanged(userId);
    if (ports.page !== undefined) processes.notices.tell({ kind: 'written', userId });
  });
  const readStatus =
    statusSources &&
    createReadStatus(config, {
      ...shared,
      botSettings: memory.botSettings,
      mainModel: modelChoice.current,
      queues: () => ({
        turns: turns.open,
        afterTurn: work.size,
        writes: writes.size,
        unwritten: pauses.unwritten(),
        noRoomFor: prompts.leftOut(),
      }),
      sources: statusSources,
    });
  const signIn = createSignIn({ store, writes, clock });
  memory.layers.push(signIn.layer);
  /** Where a person signs in, once, and comes to one of the pages; `undefined` without a page. Rejects with `StoreError`. */
  async function pageLink(person: PagePerson, path?: PagePath): Promise<string | undefined> {
    const url = ports.page?.url();
    return url && `${url}/sign-in/${await signIn.link(person, path)}`;
  }
  const commands = createCommands(config, memory, {
    ...shared,
    discord,
    pageLink,
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
    asking,
    recordAsked: (message, ofPerson) => recordAsked(message, ofPerson, turnPorts),
    commands,
    commandOrder,
    changes: recent,
    record: memory.changes.record,
    erased: memory.changes.erased,
    erasedBy: (userId, ifUnknown) => people.erasedBy(userId, ifUnknown),
    lockedOut: config.discord.accessRequests ? askOwner : async () => undefined,
  });
  const recovery = createRecovery({
    ...shared,
    sessionLog,
    afterTurn,
    finishChanges: memory.changes.finish,
    asking,
    askAgain: (message) =>
      void handlers.message({ ...message, isOwner: ownerIds.includes(message.author.id) }),
    clock: discordClock ?? clock,
  });

  /** Resolves when no turn and no after-turn work runs or waits. */
  async function idle(): Promise<void> {
    const parts = [sweeper, turns, work, writes];
    for (const part of parts) await part.idle();
  }

  return {
    handlers: {
      ...handlers,
      // A message waits for its channel's recovery; a command or menu entry only for what is to be forgotten.
      command: (request: Unstarted<CommandRequest>) =>
        recovery.finishChanges().then(() => handlers.command(request)),
      menu: (request: Unstarted<MenuRequest>) => recovery.finishChanges().then(() => handlers.menu(request)),
    },
    commands,
    signIn,
    pageLink,
    memory,
    limits,
    /** Whether a person had the first words [K12], and was not erased since. Never rejects. */
    wasGreeted: (userId: string): Promise<boolean> =>
      people.latest(userId).then(
        ({ greetedAt }) => greetedAt !== undefined,
        () => false,
      ),
    ...createKnownChannels(sessionLog, outbox),
    /** Ends turns in deleted channels and threads, and stops using what was said there [K15]. Never rejects. */
    channelsDeleted: (channelIds: readonly string[], parentId?: string): Promise<void> => {
      for (const id of channelIds) turns.endIn(id);
      return gonePlaces.deleted(channelIds, parentId);
    },
    /** Finishes what a kill left undone; needs a connection. */
    recovery,
    /**
     * Starts all that erases old data and data of left guilds [K15], behind the first answers [G3b]: it looks through
     * everybody's. Never rejects.
     */
    async startRetention(presentGuilds: PresentGuilds, answered = Promise.resolve()): Promise<void> {
      await recovery.finishChanges();
      await answered;
      memory.sweep(presentGuilds);
    },
    /** Resolves when who wrote before or just after the start has an answer, or was waited for; never once the bot has stopped. */
    async answered(caughtUp: Promise<unknown>): Promise<void> {
      await Promise.race([caughtUp, pause(answersFirstMs)]);
      await pause(quietMs);
      // Where people never stop writing, it begins nevertheless.
      await Promise.race([turns.idle(), pause(answersFirstMs)]);
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
      sweeper.stop();
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
