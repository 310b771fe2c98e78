import { randomBytes } from 'node:crypto';

import type { StatusFacts } from '../commands/status-command.ts';
import type { RecentChanges } from '../core/changes.ts';
import type { Config } from '../config/config.ts';
import type {
  AttachmentPort,
  ChannelPort,
  DirectMessagePort,
  HistoryPort,
  PresentPlace,
  ReadAttachment,
  ReadReplied,
  ReplyPort,
  ServerPort,
  WaitingReactionPort,
} from '../core/chat.ts';
import type { ReadChannel } from '../core/channel-talk.ts';
import type { CommandRequest } from '../core/commands.ts';
import { nextDayAt, processTimer, type Clock, type Timer } from '../core/time.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { measure } from '../core/measures.ts';
import type { Logger } from '../core/logger.ts';
import type { ModelClient } from '../core/model.ts';
import type { SessionKey } from '../core/place.ts';
import type { Processes } from '../core/processes.ts';
import { isSnowflake } from '../core/snowflake.ts';
import type { Store } from '../core/store.ts';
import type { ActionTools, OfferPort } from '../core/tool.ts';
import type { WorkQueue } from '../core/work-queue.ts';
import { AfterTurn, IdleSessions, mayFold } from '../turn/after-turn.ts';
import { createCommandOrder, runCommand } from '../turn/commands.ts';
import { createIntake } from '../turn/intake.ts';
import type { PresentGuilds } from '../memory/left-guilds.ts';
import { createNoteTaking } from '../memory/channel/note-taking.ts';
import type { ChannelJournal } from '../turn/journal.ts';
import { cachePrice } from '../model/anthropic/models.ts';
import { createMediaBudget } from '../model/media.ts';
import type { Spending } from '../observability/spending.ts';
import { createLateNotices, createMemoryNotices } from '../turn/notices.ts';
import { createPauseNotes } from '../turn/pauses.ts';
import { PromptComposer } from '../turn/prompt-input.ts';
import { createChannelReading, createReadChannelTool } from '../turn/read-channel.ts';
import { createRecovery, takeAwayErased } from '../turn/recover.ts';
import { runTurn, type TurnPorts } from '../turn/run-turn.ts';
import { SessionTurns } from '../turn/sessions.ts';
import { createTurnLimits } from '../turn/turn-limits.ts';
import { WaitingReactions } from '../turn/waiting-reactions.ts';
import { createCommands } from './commands.ts';
import { botName, createLayers, unknownChannels, type Memory } from './layers.ts';
import type { OtherProcesses } from './processes.ts';
import { addUpStatus, createReadStatus, type StatusSources } from './status.ts';

/** How often it is looked for what processes that are gone have left, in milliseconds. */
const takeoverMs = 60_000;

export interface SharedPorts {
  readonly processes: Processes;
  /** Default: one of this process, whose work waits for its next start. */
  readonly work?: WorkQueue;
}

export interface BotPorts {
  readonly store: Store;
  readonly model: ModelClient;
  readonly journal: ChannelJournal;
  /** Knows of every edit and deletion before anything else does. */
  readonly recent: RecentChanges;
  readonly replies: ReplyPort;
  readonly directMessages: DirectMessagePort;
  readonly offers: OfferPort;
  readonly reactions: WaitingReactionPort;
  readonly history: HistoryPort;
  /** Whether a person may talk with the bot [G1]. Default: nobody's talk is read. */
  readonly hasAccess?: (userId: string) => boolean;
  readonly presentPlace: PresentPlace;
  readonly server: ServerPort;
  /** Default: nothing is known of channels beside those of turns. */
  readonly channels?: ChannelPort;
  readonly attachments: AttachmentPort;
  readonly readAttachment: ReadAttachment;
  readonly readReplied: ReadReplied;
  readonly readChannel: ReadChannel;
  /** Where the edges are observed; without them there is no status command. */
  readonly statusSources?: StatusSources;
  /** The other processes of this machine; default: there are none. */
  readonly others?: OtherProcesses | undefined;
  /** What model calls cost on the present day; without it there is no limit on that. */
  readonly spending?: Pick<Spending, 'heldUntil' | 'layer'>;
  /** Where other processes may use the same store: what orders them, and where work after turns waits for all. Default: this one has it alone. */
  readonly shared?: SharedPorts | undefined;
  /** What the model may do on Discord, where that is on. */
  readonly actions?: ActionTools;
  readonly clock: Clock;
  /** Default: the process's own. */
  readonly timer?: Timer;
  readonly logger: Logger;
}

/** The bot without its edges: everything between the gateway's events and the ports. */
export type Bot = ReturnType<typeof createBot>;

/** Connects layers, turns, commands and what comes after, each with the ports that it needs. */
export function createBot(config: Config, ports: BotPorts) {
  const { store, model, journal, recent, replies, reactions, presentPlace, clock, logger } = ports;
  const { statusSources, spending, shared, timer = processTimer } = ports;
  const processes = shared?.processes;
  const writes = createKeyedQueue({
    shared: processes && {
      locks: processes.locks,
      refusalOf: async (key) => (isSnowflake(key) ? memory.people.erasedAt(key) : undefined),
    },
  });
  const idleSessions = new IdleSessions({
    schedule: (session) => afterTurn.schedule(session),
    clock,
    timer,
  });
  const wakeAt = (session: SessionKey, time: Date): void => {
    if (shared === undefined) idleSessions.wakeAt(session, time);
    else void afterTurn.scheduleAt(session, time);
  };
  const memory: Memory = createLayers(config, {
    store,
    model,
    recent,
    writes,
    answers: {
      ...journal,
      async erase(userId, before, channelIds) {
        const begun = await journal.erase(userId, before, channelIds);
        // Discord may keep one waiting, and nobody else waits for it.
        for (const reply of begun) void takeAwayErased({ journal, replies, logger }, reply);
      },
    },
    endWork(userId) {
      turns.endOf(userId);
      afterTurn.endOf(userId);
      prompts.endOf(userId);
      ports.offers.endOf(userId);
    },
    dropAnswers: (isPast) => journal.dropPast(isPast),
    dropJournal: (channelId) => journal.drop(channelId),
    server: ports.server,
    ...(ports.channels === undefined ? {} : { channels: ports.channels }),
    costs: spending?.layer,
    wakeAt,
    processes,
    lapseAt: shared && ((userId, time) => afterTurn.lapseAt(userId, time)),
    changed(session, hasMoreHistory) {
      if (hasMoreHistory === true) {
        prompts.renew(session);
        processes?.notices.tell({ kind: 'restored', session });
      }
      afterTurn.schedule(session);
    },
    async tellStored(stored) {
      for (const late of await lateNotices.tell(stored))
        processes?.notices.tell({ kind: 'stored', stored: late });
    },
    clock,
    timer,
    logger,
  });
  const {
    sessionLog,
    states,
    placeSettings: settings,
    people,
    greeting,
    retention,
    leftGuilds,
    provenance,
    channelNotes,
  } = memory;
  const history = retention.young(ports.history);
  const noteTaking = createNoteTaking({
    notes: channelNotes,
    history,
    channels: ports.channels ?? unknownChannels,
    model,
    modelName: config.model.fast,
    people,
    hasAccess: ports.hasAccess ?? (() => false),
    isForgotten: (...asked) => memory.durable.wasForgotten(...asked),
    begin: writes.begin,
    idleMs: config.channelNotes.idleMs,
    timer,
    logger,
  });
  const afterTurn: AfterTurn = new AfterTurn({
    layers: memory.afterTurn,
    queue: createKeyedQueue(),
    logger,
    ...(spending === undefined
      ? {}
      : {
          held: { until: spending.heldUntil, wakeAt },
        }),
    begin: writes.begin,
    work: shared?.work,
    async lapse(userId) {
      await memory.undo.lapse(userId);
      await memory.proposals.lapse(userId);
    },
    isWanted: (session) => mayFold(session, { states, sessionLog, settings, people, logger }),
  });
  const commandOrder = createCommandOrder();
  const waitingReactions = new WaitingReactions({ reactions, timer, clock });
  const actions = config.discord.actionsEnabled ? ports.actions : undefined;
  const prompts = new PromptComposer({
    channelContext: memory.workspace.channelContext,
    layers: memory.layers,
    ...(actions === undefined ? {} : { actions }),
    soul: memory.workspace.soul,
    history,
    attachments: ports.attachments,
    readReplied: retention.youngReplied(ports.readReplied),
    log: sessionLog,
    people,
    botName,
    timeZone: config.timeZone,
    historyBudget: config.prompt.historyBudget,
    maxChars: config.prompt.maxChars,
    cachePrice: cachePrice(config.model.main),
    logger,
  });
  const channelReading = createChannelReading({
    readChannel: retention.youngTalk(ports.readChannel),
    people,
    settings,
    model,
    modelName: config.model.fast,
    botName,
    timeZone: config.timeZone,
    logger,
  });
  const memoryNotices = createMemoryNotices({
    people,
    undo: memory.undo,
    commandsEnabled: config.commandsEnabled,
    logger,
  });
  const lateNotices = createLateNotices({ memoryNotices, journal, replies, presentPlace, clock, logger });
  const limits = createTurnLimits({
    turnsPerMinute: config.limits.turnsPerMinute,
    beginsAnewAt: () => nextDayAt(clock(), config.timeZone),
    replies,
    directMessages: ports.directMessages,
    journal,
    store,
    clock,
    timer,
    now: () => performance.now(),
    logger,
  });
  const turnPorts: TurnPorts = {
    commandOrder,
    waitingReactions,
    settings,
    people,
    pauseNotes: createPauseNotes(clock),
    memoryNotices,
    answered: lateNotices.answered,
    greeting,
    history,
    log: sessionLog,
    provenance,
    channelNotes: memory.channelNotes,
    prompts,
    memoryTools: memory.tools,
    readingTools: [createReadChannelTool(channelReading)],
    actionTools: actions?.tools ?? [],
    model,
    mediaBudget: createMediaBudget(),
    limits,
    modelName: config.model.main,
    answerTimeoutMs: config.model.totalTimeoutMs,
    afterTurn,
    journal,
    replies,
    offers: ports.offers,
    presentPlace,
    clock,
    logger,
    makeReference: () => randomBytes(3).toString('hex'),
  };
  const turns: SessionTurns = new SessionTurns(
    async (messages, control) => {
      const outcome = await writes.begin(() => runTurn(messages, control, turnPorts), messages[0]?.author.id);
      measure('turn', { outcome });
      return outcome;
    },
    recent,
    limits.mayBegin,
  );
  recent.subscribe((change) => turns.follow(change));
  processes?.notices.listen((notice) => {
    switch (notice.kind) {
      case 'erased':
        return memory.changes.erasedElsewhere(notice);
      case 'restored':
        return prompts.renew(notice.session);
      case 'stored':
        return void lateNotices.tell([notice.stored]);
    }
  });
  const queues = () => ({ turns: turns.open, afterTurn: afterTurn.open, writes: writes.size });
  const readOwnStatus =
    statusSources && createReadStatus(config, { store, clock, sources: statusSources }, queues);
  const readStatus = async (): Promise<StatusFacts> => {
    if (readOwnStatus === undefined) throw new Error('There is no status');
    const { others } = ports;
    const own = await readOwnStatus();
    if (others === undefined) return own;
    const found = (await others.ask('status', [])).flatMap((facts) => facts ?? []);
    return addUpStatus(own, found, others.count);
  };
  const commands = createCommands(config, memory, {
    journal,
    directMessages: ports.directMessages,
    readAttachment: ports.readAttachment,
    server: ports.server,
    tellOfChannel: (wish, asker) => channelReading.tell(wish, asker),
    channels: ports.channels ?? unknownChannels,
    begin: writes.begin,
    logger,
    readStatus: readOwnStatus && readStatus,
  });
  const commandPorts = {
    handle: (request: CommandRequest) => commands.command(request),
    journal,
    replies,
    presentPlace,
    logger,
  };
  const handlers = createIntake({
    turns,
    waitingReactions,
    reactions,
    replies,
    runCommand: (message, command) => runCommand(message, command, commandPorts),
    commands,
    order: commandOrder,
    changes: recent,
    record: memory.changes.record,
    erased: memory.changes.erased,
    erasedBy: (userId) => people.erasedBy(userId),
    spoken: (said) => noteTaking.spoken(said),
    journal,
    logger,
  });

  const recovery = createRecovery({
    journal,
    sessionLog,
    settings,
    people,
    provenance,
    memoryNotices,
    afterTurn,
    async finishChanges() {
      await memory.changes.finish();
      await memory.undo.start();
      await memory.proposals.start();
    },
    replies,
    presentPlace,
    clock,
    logger,
  });

  let cancelTakeover: (() => void) | undefined;
  let isDraining = false;
  /** Now and again finishes what processes have left that are gone. */
  function takeOverLater(): void {
    if (processes === undefined) return;
    cancelTakeover = timer(() => {
      cancelTakeover = undefined;
      void memory.changes.finish().then(() => isDraining || takeOverLater());
    }, takeoverMs);
  }

  /** Resolves when no turn and no after-turn work runs or waits. */
  async function idle(): Promise<void> {
    await retention.idle();
    await leftGuilds.idle();
    await noteTaking.idle();
    await turns.idle();
    await afterTurn.idle();
    await writes.idle();
  }

  return {
    handlers,
    commands,
    /** This process's part of the status; `undefined` where nothing observes the edges. */
    status: async (): Promise<StatusFacts | undefined> => readOwnStatus?.(),
    /** When the owner wants to be answered where. */
    answerModes: settings,
    /** Names in the log what the owner wrote about channels and is not used. Never rejects. */
    nameUnusedContexts: memory.workspace.nameUnusedContexts,
    /** Tells the owners what is used of the daily cost. */
    tellOwners: limits.tellOwners,
    /** The role that lets people into a guild, where its people have named one [V0]. */
    memberRole: settings.memberRole,
    /** Channels that the bot has been active in, and when; also those where it was stopped before its first reply. */
    async knownChannels() {
      const activeAt = new Map<string, number>();
      const noted = (await channelNotes.channels()).map(({ channelId: id }) => ({ id, activeAt: 0 }));
      for (const { id, activeAt: at } of [
        ...(await sessionLog.channels()),
        ...(await journal.channels()),
        ...noted,
      ])
        activeAt.set(id, Math.max(at, activeAt.get(id) ?? 0));
      return Array.from(activeAt, ([id, at]) => ({ id, activeAt: at }));
    },
    /** The server that a channel belongs to, as far as memory knows. */
    async guildOf(channelId: string): Promise<string | undefined> {
      const [session] = await sessionLog.sessionsIn(channelId);
      return session && (await states.read(session)).place?.guildId;
    },
    /** What is remembered of a channel from a message id on, to be compared with what stands there after a gap. */
    remembered: async (channelId: string, messageId: string) => [
      ...(await sessionLog.rememberedSince(channelId, messageId)),
      ...(await channelNotes.messagesSince(channelId, messageId)),
    ],
    /** The bot was removed from a guild that had these channels. Must not be told of an outage. */
    guildLeft: (guildId: string, channelIds: readonly string[]) => leftGuilds.left(guildId, channelIds),
    /** Finishes what a kill left undone, when replies can be sent. */
    recovery,
    /** Erases what is too old, and what is left of guilds that the bot is in no more, from now on, beside everything else [K15]. Never rejects. */
    async startRetention(presentGuilds: PresentGuilds): Promise<void> {
      await recovery.finishChanges();
      takeOverLater();
      retention.start();
      leftGuilds.start(presentGuilds);
      await channelNotes.dropPaused(clock().toISOString());
      await noteTaking.start();
    },
    idle,
    /** What waits or runs, by kind. */
    inProgress: () => {
      const { turns: ofTurns, afterTurn: behind, writes: ofWrites } = queues();
      return { turns: ofTurns.running, waiting_turns: ofTurns.waiting, after_turn: behind, writes: ofWrites };
    },
    /** Takes nothing more and finishes what runs, for at most so many milliseconds; then it is aborted and left to the next start [G4]. */
    async drain(withinMs: number): Promise<void> {
      turns.stop();
      retention.stop();
      leftGuilds.stop();
      noteTaking.stop();
      idleSessions.stop();
      isDraining = true;
      cancelTakeover?.();
      const timeUp = setTimeout(() => {
        logger.warn('running work is left to the next start', { withinMs });
        turns.abort();
        afterTurn.abort();
      }, withinMs);
      await idle();
      afterTurn.stop();
      clearTimeout(timeUp);
    },
  };
}
