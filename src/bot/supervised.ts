import { once } from 'node:events';

import { createBirpc } from 'birpc';

import type { Identifying } from '../discord/shard.ts';
import type { OtherProcesses, ProcessCalls, SupervisorCalls } from './processes.ts';

/** A supervised process's way to its supervisor. */
export interface Supervised {
  /** From 1 on. */
  readonly number: number;
  readonly identifying: Identifying;
  readonly others: OtherProcesses;
  /** From now on the process answers by these. */
  readonly answer: (calls: Partial<ProcessCalls>) => void;
  /** The process is connected. */
  ready(): Promise<void>;
  /** Lets the process end: the way to the supervisor would hold it. */
  close(): void;
}

const notReady: ProcessCalls = {
  health: () => ({ unhealthy: undefined, unready: 'the bot is not connected to Discord yet' }),
  metrics: async () => [],
  status: async () => undefined,
  placeOf: async () => undefined,
  personMay: async () => false,
  readChannel: async () => ({ kind: 'none' }),
};

/** Process `number` of `count`, over the channel that Node.js gives a forked process; `undefined` where it is none. */
export function connectToSupervisor(number: number, count: number): Supervised | undefined {
  if (process.send === undefined) return undefined;
  const own = { ...notReady };
  const supervisor = createBirpc<SupervisorCalls, ProcessCalls>(own, {
    post(message: unknown) {
      // The supervisor may just have ended: then the channel says so.
      if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
    },
    on: (listener) => void process.on('message', listener),
    off: (listener) => void process.off('message', listener),
    bind: 'functions',
    // A shard may have to wait for many others.
    timeout: -1,
  });
  return {
    number,
    identifying: {
      async waitForIdentify(shard, signal) {
        await Promise.race([supervisor.mayIdentify(shard), once(signal, 'abort')]);
        signal.throwIfAborted();
      },
    },
    others: {
      count: count - 1,
      ask: async (name, asked) => {
        const answers: unknown = await supervisor.$call('askOthers', name, asked).catch(() => []);
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each process answers by the same functions
        return answers as never;
      },
    },
    answer: (calls) => void Object.assign(own, calls),
    ready: () => supervisor.ready(),
    close() {
      supervisor.$close();
      if (process.connected) process.disconnect();
    },
  };
}
