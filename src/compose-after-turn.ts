import type { Memory } from './compose-memory.ts';
import type { Config } from './config/config.ts';
import type { Clock } from './core/time.ts';
import type { Logger } from './core/logger.ts';
import type { ModelClient } from './core/model.ts';
import type { Store } from './core/store.ts';
import { createExtraction } from './memory/durable/extraction.ts';
import { notebookOpener } from './memory/notebook/notebook.ts';
import { createReflection } from './memory/notebook/reflection.ts';
import { createWeeklyTrim } from './memory/notebook/weekly-trim.ts';
import { runToolLoop } from './model/tool-loop.ts';
import type { KeyedQueue } from './core/keyed-queue.ts';
import type { AfterTurnStep } from './turn/after-turn.ts';
import { createExtractionStep } from './turn/extraction-step.ts';
import type { IdleSessions } from './turn/idle-sessions.ts';
import { createReflectionStep } from './turn/reflection-step.ts';

export interface AfterTurnPorts {
  readonly store: Store;
  readonly model: ModelClient;
  /** The users' write queue [S3]. */
  readonly writes: KeyedQueue;
  readonly idleSessions: IdleSessions;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** What comes after a turn, in order [A1]. */
export function composeAfterTurn(
  config: Config,
  memory: Memory,
  ports: AfterTurnPorts,
): readonly AfterTurnStep[] {
  return [...memorySteps(config, memory, ports), ...notebookSteps(config, memory, ports)];
}

function memorySteps(
  config: Config,
  memory: Memory,
  { model, logger }: AfterTurnPorts,
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
  ports: AfterTurnPorts,
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
