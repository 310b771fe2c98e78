import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

import type { Config, Environment } from '../config/config.ts';
import { createAbortGroup } from '../core/deadline.ts';
import type { Logger } from '../core/logger.ts';
import type { Shards } from '../core/processes.ts';
import { unlessAborted } from '../core/time.ts';
import { createIdentifyQueue } from '../discord/shard.ts';
import { createLogger } from '../observability/logger.ts';
import { checkStart } from './checks.ts';
import { UnusableError } from './command-line.ts';
import {
  forkProcess,
  type RunningProcess,
  type SupervisorCalls,
  askAboutShards,
  divideShards,
  shardsHere,
  shownShards,
} from './processes.ts';
import { whenReachable, serveHealth } from './run.ts';

const firstWaitMs = 500;
const longestWaitMs = 60_000;
/** A process that was ready for so long counts as healthy, and is restarted quickly. */
const provenMs = 30_000;

/** `EX_CONFIG`: starting again does not help [O2]. */
const badConfiguration = 78;

/** Milliseconds that processes have to end [G4]; each gives itself ten seconds. */
const endWithinMs = 9300;

/** Until `signal` [X3]. @throws {UnusableError} where one process cannot run, after all have ended. */
export async function runProcesses(
  config: Config,
  token: string,
  notes: readonly string[],
  environment: Environment,
  signal: AbortSignal,
): Promise<void> {
  const logger = createLogger({ level: config.logLevel });
  for (const note of notes) logger.warn(note);
  let supervisor: Supervisor | undefined;
  const { addUpMetrics } = await import('../observability/metrics.ts');
  const health = await serveHealth(
    config.http,
    addUpMetrics(async () => supervisor?.metrics() ?? []),
  );
  try {
    const checked = checkStart(config, logger);
    const asked = await whenReachable(
      () => unlessAborted(signal, askAboutShards(config, token, logger)),
      logger,
      signal,
    );
    if (asked === undefined) return;
    await checked;
    const shards = shardsHere(config, asked.recommended);
    const parts = divideShards(shards, config.shards.processes);
    logger.info('the bot runs in several processes', {
      processes: parts.map(({ ids }) => shownShards(ids)),
      ofShards: shards.count,
      maxConcurrency: asked.maxConcurrency,
    });
    if (shards.count < asked.recommended)
      logger.warn('Discord recommends more shards: set DISCOCLAW_SHARDS to auto, or to this number', {
        recommended: asked.recommended,
      });
    const identifying = createIdentifyQueue(asked.maxConcurrency);
    supervisor = createSupervisor({
      parts,
      start: (number, part, own) => forkProcess(number, parts.length, part, environment, own),
      mayIdentify: (shard, gone) => identifying.waitForIdentify(shard, gone),
      wait: (ms, over) => delay(ms, undefined, { signal: over }).catch(() => undefined),
      now: () => performance.now(),
      logger,
    });
    health?.follow(supervisor);
    const stop = async () => supervisor?.stop(endWithinMs);
    const end = (): void => void stop();
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    void supervisor.ready.then(() => process.send?.('ready'));
    try {
      await supervisor.ended;
    } finally {
      // One process that cannot run ends all.
      await stop();
    }
    logger.info('all processes of the bot have ended');
  } finally {
    await health?.close();
  }
}

export interface SupervisorOptions {
  readonly parts: readonly Shards[];
  /** Starts process `number`, from 1, which may call `own`. May throw. */
  readonly start: (number: number, shards: Shards, own: SupervisorCalls) => RunningProcess;
  /** Resolves when a shard may identify; rejects only where `signal` is aborted. */
  readonly mayIdentify: (shard: number, signal: AbortSignal) => Promise<void>;
  /** Resolves after so many milliseconds or when `signal` is aborted; keeps the process alive until then. */
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  readonly logger: Logger;
}

export type Supervisor = ReturnType<typeof createSupervisor>;

/** Restarts each process that ends, with growing pauses, and forwards their calls to each other [X3]. */
export function createSupervisor({ parts, start, mayIdentify, wait, now, logger }: SupervisorOptions) {
  const running = new Map<number, { readonly process: RunningProcess; readyAt?: number }>();
  const stopping = new AbortController();
  const allReady = new AbortController();
  const numbers = parts.map((_, index) => index + 1);

  const nameOf = (number: number): string =>
    `process ${number} (shards ${shownShards(parts[number - 1]?.ids ?? [])})`;
  const isReady = (number: number): boolean => running.get(number)?.readyAt !== undefined;

  /** The answers of all other processes; failures are left out. Never rejects. */
  async function answersOf<Answer>(
    ask: (process: RunningProcess) => Promise<Answer>,
    except?: number,
  ): Promise<readonly Answer[]> {
    const asked = [...running].filter(([number]) => number !== except);
    const answers = await Promise.allSettled(asked.map(async ([, { process }]) => ask(process)));
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  }

  /** Resolves when the process has ended; never rejects. */
  async function run(number: number, shards: Shards) {
    const identifying = createAbortGroup();
    const own: SupervisorCalls = {
      mayIdentify: (shard) => identifying.run((signal) => mayIdentify(shard, signal)),
      ready() {
        const entry = running.get(number);
        if (entry !== undefined) entry.readyAt = now();
        if (numbers.every(isReady)) allReady.abort();
      },
      askOthers: (name, asked) => answersOf(({ calls }) => calls[name](...asked), number),
    };
    try {
      const process = start(number, shards, own);
      running.set(number, { process });
      const exit = await process.exited;
      const readyAt = running.get(number)?.readyAt ?? Infinity;
      return { ...exit, isProven: now() - readyAt >= provenMs };
    } catch (error) {
      return { code: null, signal: null, error, isProven: false };
    } finally {
      running.delete(number);
      identifying.end();
    }
  }

  /** Resolves after `stop`. @throws {UnusableError} where a restart does not help. */
  async function keepRunning(number: number, shards: Shards): Promise<void> {
    for (let waitMs = firstWaitMs; ; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      const { code, signal, error, isProven } = await run(number, shards);
      if (stopping.signal.aborted) return;
      if (code === badConfiguration)
        throw new UnusableError(
          `${nameOf(number)} ended with what only its operator can put right, as it says above`,
        );
      if (isProven) waitMs = firstWaitMs;
      logger.error('a process of the bot has ended and is started again', {
        ended: number,
        shards: shownShards(shards.ids),
        error,
        code: code ?? undefined,
        signal: signal ?? undefined,
        inMs: waitMs,
      });
      await wait(waitMs, stopping.signal);
      if (stopping.signal.aborted) return;
    }
  }

  async function problemOf(number: number, kind: 'unhealthy' | 'unready'): Promise<string | undefined> {
    const entry = running.get(number);
    if (entry?.readyAt === undefined)
      return kind === 'unready' ? `${nameOf(number)} is not connected to Discord yet` : undefined;
    try {
      const { [kind]: problem } = await entry.process.calls.health();
      return problem && `${nameOf(number)}: ${problem}`;
    } catch {
      return `${nameOf(number)} does not answer`;
    }
  }

  async function firstProblem(kind: 'unhealthy' | 'unready'): Promise<string | undefined> {
    const problems = await Promise.all(numbers.map((number) => problemOf(number, kind)));
    return problems.find((problem) => problem !== undefined);
  }

  return {
    /** Resolves when all are ready at the same time. */
    ready: once(allReady.signal, 'abort'),
    /** Resolves when all have ended after `stop`. @throws {UnusableError} where one cannot run; the others still do. */
    ended: Promise.all(parts.map((shards, index) => keepRunning(index + 1, shards))),
    unhealthy: () => firstProblem('unhealthy'),
    unready: () => firstProblem('unready'),
    metrics: () => answersOf(({ calls }) => calls.metrics()),
    /** Ends all processes, and kills those that still run after `withinMs` [G4]. */
    async stop(withinMs: number): Promise<void> {
      stopping.abort();
      const left = [...running.values()].map(({ process }) => process);
      for (const process of left) process.kill('SIGTERM');
      const ended = new AbortController();
      const all = Promise.all(left.map(({ exited }) => exited)).then(() => ended.abort());
      await wait(withinMs, ended.signal);
      if (!ended.signal.aborted) for (const process of left) process.kill('SIGKILL');
      await all;
    },
  };
}
