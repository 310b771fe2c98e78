import { randomBytes } from 'node:crypto';

import { createMemoryCommands } from './commands/memory-commands.ts';
import type { MemoryCommands } from './commands/memory-commands.ts';
import { composeMemory } from './compose-memory.ts';
import type { Memory } from './compose-memory.ts';
import type { Config } from './config/config.ts';
import type { BotHandlers, HistoryPort, PresentPlace, ReplyPort } from './core/chat.ts';
import type { Clock } from './core/clock.ts';
import { ModelError } from './core/errors.ts';
import type { Logger } from './core/logger.ts';
import type { ModelClient } from './core/model.ts';
import type { Store } from './core/store.ts';
import type { Tool } from './core/tool.ts';
import { createExtraction } from './memory/durable/extraction.ts';
import { createForgetItemTool } from './memory/durable/forget-item-tool.ts';
import { createRememberItemTool } from './memory/durable/remember-item-tool.ts';
import { notebookOpener } from './memory/notebook/notebook.ts';
import { createReflection } from './memory/notebook/reflection.ts';
import { createWeeklyTrim } from './memory/notebook/weekly-trim.ts';
import { createRecallTool } from './memory/recall/recall-tool.ts';
import { runToolLoop } from './model/tool-loop.ts';
import { createKeyedQueue } from './queue/keyed-queue.ts';
import type { KeyedQueue } from './queue/keyed-queue.ts';
import { AfterTurn } from './turn/after-turn.ts';
import type { AfterTurnStep } from './turn/after-turn.ts';
import { createBotHandlers } from './turn/bot-handlers.ts';
import type { ChannelJournal } from './turn/channel-journal.ts';
import { createCommandOrder } from './turn/command-order.ts';
import { createCommandRunner } from './turn/command-runner.ts';
import { createExtractionStep } from './turn/extraction-step.ts';
import { IdleSessions, processTimer } from './turn/idle-sessions.ts';
import { PromptComposer } from './turn/prompt-composer.ts';
import { createReflectionStep } from './turn/reflection-step.ts';
import { recover } from './turn/recover.ts';
import { createRetraction } from './turn/retraction.ts';
import { SessionTurns } from './turn/session-turns.ts';
import { createTurnRunner } from './turn/turn-runner.ts';
import type { AnswerTurn } from './turn/turn-runner.ts';

/** Characters of one durable item at most [K2]. */
const itemMaxChars = 500;
/** Output tokens of an answer at most: some 12,000 characters. */
const answerMaxTokens = 4096;

export interface BotPorts {
  readonly store: Store;
  readonly model: ModelClient;
  readonly journal: ChannelJournal;
  readonly replies: ReplyPort;
  readonly history: HistoryPort;
  readonly presentPlace: PresentPlace;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The bot without its edges: everything between the gateway's events and the ports. */
export interface Bot {
  readonly handlers: BotHandlers;
  /** Channels that the bot has been active in; also those where it was stopped before its first reply. */
  knownChannels(): Promise<readonly string[]>;
  /** Finishes what a kill left undone; call once, when replies can be sent. */
  recover(): Promise<void>;
  /** Resolves when no turn and no after-turn work runs or waits. */
  idle(): Promise<void>;
  /** Takes nothing more and finishes what runs, for at most so many milliseconds; then it is aborted and left to the next start [G4]. */
  drain(withinMs: number): Promise<void>;
}

export function composeBot(config: Config, ports: BotPorts): Bot {
  const { journal, replies, presentPlace, clock, logger } = ports;
  const writes = createKeyedQueue();
  const memory = composeMemory(config, { ...ports, writes });
  const idleSessions = new IdleSessions({
    schedule: (session) => afterTurn.schedule(session),
    clock,
    timer: processTimer,
  });
  const afterTurn: AfterTurn = new AfterTurn({
    steps: [
      ...afterTurnSteps(config, memory, ports),
      ...notebookSteps(config, memory, { ...ports, writes, idleSessions }),
    ],
    queue: createKeyedQueue(),
    logger,
  });
  const order = createCommandOrder();
  const turns = new SessionTurns(
    order.afterCommands(
      createTurnRunner({
        answer: createAnswer(config, memory, ports),
        journal,
        sessionLog: memory.sessionLog,
        afterTurn,
        replies,
        presentPlace,
        clock,
        logger,
        makeReference: () => randomBytes(3).toString('hex'),
      }),
    ),
  );
  const commands = createCommands(config, memory, logger);
  const runCommand = createCommandRunner({ handle: commands.handle, journal, replies, logger });
  const retract = createRetraction({ ...memory, journal });
  const handlers = createBotHandlers({
    turns,
    runCommand: (message, words) =>
      order.run({ channelId: message.channelId, userId: message.author.id }, () =>
        runCommand(message, words),
      ),
    handleCommand: commands.handle,
    retract,
    journal,
    logger,
  });

  async function idle(): Promise<void> {
    await turns.idle();
    await afterTurn.idle();
    await writes.idle();
  }

  return {
    handlers,
    async knownChannels() {
      const [answered, sessions] = await Promise.all([journal.channels(), memory.sessionLog.sessions()]);
      return [...new Set([...answered, ...sessions.map(({ channelId }) => channelId)])];
    },
    recover: () =>
      recover({
        journal,
        sessionLog: memory.sessionLog,
        afterTurn,
        finishRetractions: retract.finish,
        replies,
        presentPlace,
        clock,
        logger,
      }),
    idle,
    async drain(withinMs) {
      turns.stop();
      idleSessions.stop();
      const timeUp = setTimeout(() => {
        logger.warn('running work is left to the next start', { withinMs });
        turns.abort();
        afterTurn.abort();
      }, withinMs);
      await idle();
      clearTimeout(timeUp);
    },
  };
}

function createAnswer(config: Config, memory: Memory, { model, history, logger }: BotPorts): AnswerTurn {
  const composer = new PromptComposer({
    readers: memory.readers,
    soul: memory.workspace.soul,
    history,
    timeZone: config.timeZone,
    historyBudget: config.prompt.historyBudget,
    maxChars: config.prompt.maxChars,
    logger,
  });
  const tools = [
    ...memory.notebook.tools,
    ...(config.recall.enabled
      ? [createRecallTool({ recall: memory.recall, defaultLimit: config.recall.defaultLimit })]
      : []),
    ...(config.durable.enabled ? durableTools(memory) : []),
  ];
  return async (turn, signal) => {
    const { prompt, othersPresent } = await composer.compose(turn);
    const { system, messages } = prompt;
    const context = { ...turn, othersPresent };
    const { text, stop } = await runToolLoop({
      client: model,
      request: { purpose: 'chat', model: config.model.main, system, messages, maxTokens: answerMaxTokens },
      tools,
      context,
      deadlineMs: config.model.totalTimeoutMs,
      signal,
      logger,
    });
    // What the time limit or a refusal ended is no whole answer: it is shown as the part that came, marked, and logged [§12].
    if (stop === 'timeout' || stop === 'refusal') {
      const failure = stop === 'timeout' ? 'timeout' : 'invalid';
      throw new ModelError(`The answer broke off (${stop})`, failure, { partialText: text });
    }
    return { text, stop: stop === 'cut' ? 'cut' : 'whole' };
  };
}

function durableTools({ durable, sessionLog }: Memory): readonly Tool[] {
  return [
    createRememberItemTool({ durable, stillThere: (session, id) => sessionLog.message(session, id) }),
    createForgetItemTool({ durable }),
  ];
}

function afterTurnSteps(
  config: Config,
  memory: Memory,
  { model, logger }: BotPorts,
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
  { states, sessionLog }: Memory,
  ports: BotPorts & { readonly writes: KeyedQueue; readonly idleSessions: IdleSessions },
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

function createCommands(config: Config, memory: Memory, logger: Logger): MemoryCommands {
  return createMemoryCommands({
    durable: memory.durable,
    rolling: memory.rolling,
    shortTerm: memory.shortTerm,
    settings: {
      durableEnabled: config.durable.enabled,
      itemMaxChars,
      summaryEnabled: config.summary.enabled,
      summaryMaxChars: config.summary.maxChars,
      shortTermEnabled: config.shortTerm.enabled,
      shortTermMaxChars: config.shortTerm.injectMaxChars,
    },
    timeZone: config.timeZone,
    logger,
  });
}
