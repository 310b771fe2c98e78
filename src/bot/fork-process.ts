import { fork } from 'node:child_process';

import { createBirpc } from 'birpc';

import type { Shards } from '../core/shards.ts';
import type { ProcessCalls, SupervisorCalls } from './processes.ts';
import { shownShards } from './shards.ts';
import type { Exit, RunningProcess } from './supervise.ts';

/**
 * Starts this program once more, as process `number` of `count` with these shards: it is configured like any other one, by variables, and told by an
 * argument whose part it is.
 */
export function forkProcess(
  number: number,
  count: number,
  shards: Shards,
  environment: Readonly<Record<string, string | undefined>>,
  own: SupervisorCalls,
): RunningProcess {
  const [, program = ''] = process.argv;
  const child = fork(program, [`--supervised=${number}/${count}`], {
    env: {
      ...environment,
      DISCOCLAW_SHARDS: String(shards.count),
      DISCOCLAW_SHARD_IDS: shownShards(shards.ids),
      DISCOCLAW_PROCESSES: '1',
    },
    // Dates, and what is not there, come as they are.
    serialization: 'advanced',
  });
  const calls = createBirpc<ProcessCalls, SupervisorCalls>(own, {
    post: (message: unknown) => {
      // It may just have ended.
      if (child.connected) child.send(Object(message), () => undefined);
    },
    on: (listener) => void child.on('message', listener),
    off: (listener) => void child.off('message', listener),
    bind: 'functions',
    // Whoever asks waits as long as fits.
    timeout: -1,
  });
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      // Otherwise a signal or a message could not be sent, and the process goes on or says itself that it ended.
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
  void exited.then(() => calls.$close());
  return { calls, exited, kill: (signal) => void child.kill(signal) };
}
