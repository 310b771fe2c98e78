import { setTimeout as delay } from 'node:timers/promises';

import type { Config, Environment } from '../config/config.ts';
import { unlessAborted } from '../core/time.ts';
import { createIdentifyQueue } from '../discord/shard.ts';
import { createLogger } from '../observability/logger.ts';
import { checkStart } from './checks.ts';
import { forkProcess } from './fork-process.ts';
import { whenReachable } from './run.ts';
import { serveHealthOfAll } from './serve-health.ts';
import { askAboutShards, divideShards, shardsHere, shownShards } from './shards.ts';
import { createSupervisor, type Supervisor } from './supervise.ts';

/** Milliseconds that the processes have to end in peace [G4]; each counts ten seconds itself. */
const endWithinMs = 9300;

/**
 * Runs the bot on Discord in several processes until `signal` [X3], telling a process manager when all are ready. Looks once at what every start looks
 * at. @throws {UnusableError} where one of them cannot run, after all have ended.
 */
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
  const health = await serveHealthOfAll(config.http, async () => supervisor?.metrics() ?? []);
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
    await supervise(supervisor, signal);
    logger.info('all processes of the bot have ended');
  } finally {
    await health?.close();
  }
}

async function supervise(supervisor: Supervisor, signal: AbortSignal): Promise<void> {
  const stop = (): void => void supervisor.stop(endWithinMs);
  if (signal.aborted) stop();
  else signal.addEventListener('abort', stop, { once: true });
  void supervisor.ready.then(() => process.send?.('ready'));
  try {
    await supervisor.ended;
  } finally {
    // One that cannot run ends all.
    await supervisor.stop(endWithinMs);
  }
}
