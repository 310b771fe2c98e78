import { randomBytes } from 'node:crypto';

import type { CommandSet } from './commands/command-set.ts';
import { composeAfterTurn } from './compose-after-turn.ts';
import { composeAnswer } from './compose-answer.ts';
import { composeCommands } from './compose-commands.ts';
import { composeMemory } from './compose-memory.ts';
import { createReadStatus } from './compose-status.ts';
import type { StatusSources } from './compose-status.ts';
import type { Memory } from './compose-memory.ts';
import type { Config } from './config/config.ts';
import type { InteractionHandlers } from './core/application-command.ts';
import type {
  BotHandlers,
  HistoryPort,
  PresentPlace,
  RememberedMessage,
  ReplyPort,
  WaitingReactionPort,
} from './core/chat.ts';
import type { Clock } from './core/time.ts';
import type { Logger } from './core/logger.ts';
import type { ModelClient } from './core/model.ts';
import type { SessionKey } from './core/place.ts';
import type { Store } from './core/store.ts';
import type { ActionTools } from './core/tool.ts';
import type { PlaceSettings } from './memory/settings/place-settings.ts';
import { createKeyedQueue } from './core/keyed-queue.ts';
import { AfterTurn } from './turn/after-turn.ts';
import { createBotHandlers } from './turn/bot-handlers.ts';
import type { ChannelJournal } from './turn/channel-journal.ts';
import { createCommandOrder } from './turn/command-order.ts';
import { createCommandRunner } from './turn/command-runner.ts';
import type { EnclosurePorts } from './turn/enclosures.ts';
import { IdleSessions, processTimer } from './turn/idle-sessions.ts';
import { recover } from './turn/recover.ts';
import { createRetraction } from './turn/retraction.ts';
import { SessionTurns } from './turn/session-turns.ts';
import { createTurnRunner } from './turn/turn-runner.ts';
import { withoutTexts } from './turn/without-texts.ts';
import { WaitingReactions } from './turn/waiting-reactions.ts';

export interface BotPorts extends EnclosurePorts {
  readonly store: Store;
  readonly model: ModelClient;
  readonly journal: ChannelJournal;
  readonly replies: ReplyPort;
  readonly reactions: WaitingReactionPort;
  readonly history: HistoryPort;
  readonly presentPlace: PresentPlace;
  /** Where the edges are watched; without them there is no status command. */
  readonly statusSources?: StatusSources;
  /** What the model may do on Discord, where that is on. */
  readonly actions?: ActionTools;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The bot without its edges: everything between the gateway's events and the ports. */
export interface Bot {
  readonly handlers: BotHandlers & InteractionHandlers;
  readonly commands: Pick<CommandSet, 'slashCommands' | 'menuEntries' | 'parse'>;
  /** When the owner wants to be answered where. */
  readonly answerMode: PlaceSettings['answerMode'];
  /** Channels that the bot has been active in; also those where it was stopped before its first reply. */
  knownChannels(): Promise<readonly string[]>;
  /** What is remembered of a channel from a message id on, to be compared with what stands there after a gap. */
  remembered(channelId: string, messageId: string): Promise<readonly RememberedMessage[]>;
  /** Finishes what a kill left undone; call once, when replies can be sent. */
  recover(): Promise<void>;
  /** Resolves when no turn and no after-turn work runs or waits. */
  idle(): Promise<void>;
  /** Takes nothing more and finishes what runs, for at most so many milliseconds; then it is aborted and left to the next start [G4]. */
  drain(withinMs: number): Promise<void>;
}

export function composeBot(config: Config, ports: BotPorts): Bot {
  const { journal, replies, reactions, presentPlace, clock, logger } = ports;
  const writes = createKeyedQueue();
  const memory = composeMemory(config, { ...ports, writes });
  const idleSessions = new IdleSessions({
    schedule: (session) => afterTurn.schedule(session),
    clock,
    timer: processTimer,
  });
  const afterTurn: AfterTurn = new AfterTurn({
    steps: composeAfterTurn(config, memory, { ...ports, writes, idleSessions }),
    queue: createKeyedQueue(),
    logger,
    isWanted: mayFold(memory, logger),
  });
  const order = createCommandOrder();
  const waitingReactions = new WaitingReactions({ reactions, timer: processTimer, clock });
  const runTurn = createTurnRunner({
    answer: composeAnswer(config, memory, { ...ports, waitingReactions }),
    journal,
    sessionLog: memory.turnLog,
    afterTurn,
    replies,
    presentPlace,
    clock,
    logger,
    makeReference: () => randomBytes(3).toString('hex'),
  });
  const { isMemoryOff } = memory.placeSettings;
  const runTracelessly = withoutTexts(runTurn, { isMemoryOff, journal, logger });
  const turns = new SessionTurns(order.afterCommands(waitingReactions.untilTurn(runTracelessly)));
  const { store, statusSources: sources } = ports;
  const queues = () => ({ turns: turns.open, afterTurn: afterTurn.open, writes: writes.size });
  const readStatus =
    sources === undefined ? undefined : createReadStatus(config, { store, clock, sources }, queues);
  const commands = composeCommands(config, memory, {
    journal,
    logger,
    ...(readStatus === undefined ? {} : { readStatus }),
  });
  const runCommand = createCommandRunner({ handle: commands.handle, journal, replies, presentPlace, logger });
  const retract = createRetraction({ ...memory, journal, afterTurn });
  const handlers = createBotHandlers({
    turns,
    waitingReactions,
    runCommand,
    commands,
    order,
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
    commands,
    answerMode: memory.placeSettings.answerMode,
    async knownChannels() {
      const [answered, sessions] = await Promise.all([journal.channels(), memory.sessionLog.sessions()]);
      return [...new Set([...answered, ...sessions.map(({ channelId }) => channelId)])];
    },
    remembered: (channelId, messageId) => memory.sessionLog.rememberedSince(channelId, messageId),
    recover: () =>
      recover({
        journal,
        sessionLog: { ...memory.sessionLog, ...memory.turnLog },
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

/** Nothing is made of a session where memory is off, nor of one that has no log. */
function mayFold({ states, sessionLog, placeSettings }: Memory, logger: Logger) {
  return async (session: SessionKey): Promise<boolean> => {
    try {
      const { place } = await states.read(session);
      if (place !== undefined) return !(await placeSettings.isMemoryOff(place));
      return (await sessionLog.lastSequence(session)) > 0;
    } catch (error) {
      logger.warn('a session could not be looked at after its turn', { ...session, error });
      return false;
    }
  };
}
