import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

import { createBirpc } from 'birpc';

import type { StatusFacts } from '../commands/status-command.ts';
import type { ChannelTalk, ChannelWish } from '../core/channel-talk.ts';
import type { ChannelPort } from '../core/chat.ts';
import type { Place } from '../core/place.ts';
import type { Shards } from '../core/shards.ts';
import type { Identifying } from '../discord/shard.ts';
import { shownShards } from './shards.ts';

/** What a supervised process may be asked, by its supervisor and by the other processes of this machine through it [X3]. */
export interface ProcessCalls {
  /** As `Health` says. */
  health(): Promise<{ readonly unhealthy: string | undefined; readonly unready: string | undefined }>;
  /** As prom-client has them; empty where nobody counts. */
  metrics(): Promise<readonly object[]>;
  /** Its own part; `undefined` before it is ready. */
  status(): Promise<StatusFacts | undefined>;
  /** Of a channel of its own shards; `undefined` for all others. */
  placeOf(channelId: string): Promise<Place | undefined>;
  /** `false` for channels of others. */
  personMay(...asked: Parameters<ChannelPort['personMay']>): Promise<boolean>;
  /** From a direct message, of a channel of its own shards. */
  readChannel(wish: ChannelWish): Promise<ChannelTalk>;
}

/** What a supervised process asks of its supervisor. */
export interface SupervisorCalls {
  /** Resolves when a shard may identify: one of a rate-limit key in five seconds, whichever process it is in. */
  mayIdentify(shard: number): Promise<void>;
  /** It is connected. */
  ready(): void;
  /** Asks all other processes; those that are away, or do not answer, are left out. */
  askOthers<Name extends keyof ProcessCalls>(
    name: Name,
    asked: Parameters<ProcessCalls[Name]>,
  ): Promise<readonly Awaited<ReturnType<ProcessCalls[Name]>>[]>;
}

/** What the other processes of this machine are asked. None rejects: who is away or does not know is left out. */
export interface OtherProcesses {
  /** How many there are. */
  readonly count: number;
  readonly ask: SupervisorCalls['askOthers'];
}

/** A process that runs. */
export interface RunningProcess {
  /** Each rejects when the process is gone, or does not answer in time. */
  readonly calls: {
    [Name in keyof ProcessCalls]: (
      ...asked: Parameters<ProcessCalls[Name]>
    ) => Promise<Awaited<ReturnType<ProcessCalls[Name]>>>;
  };
  /** How it ended. Never rejects; `error` is why it could not even be started. */
  readonly exited: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly error?: unknown;
  }>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** Milliseconds that a process has for an answer; a long channel is read by several requests to Discord. */
const patienceMs = 10_000;

/** Starts this program once more as process `number` of `count`. Variables tell it its shards, and an argument whose part it is. */
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
  const calls = createBirpc<ProcessCalls, SupervisorCalls>(own, overChannel(child, patienceMs));
  const exited = new Promise<Awaited<RunningProcess['exited']>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      // Otherwise a signal or a message could not be sent, and the process goes on or says itself that it ended.
      if (child.pid === undefined) resolve({ code: null, signal: null, error });
    });
  });
  void exited.then(() => calls.$close());
  return { calls, exited, kill: (signal) => void child.kill(signal) };
}

const notReady: ProcessCalls = {
  health: async () => ({ unhealthy: undefined, unready: 'the bot is not connected to Discord yet' }),
  metrics: async () => [],
  status: async () => undefined,
  placeOf: async () => undefined,
  personMay: async () => false,
  readChannel: async () => ({ kind: 'none' }),
};

/** A supervised process's way to its supervisor. */
export type Supervised = NonNullable<ReturnType<typeof connectToSupervisor>>;

/** Process `number` of `count`, over the channel that Node.js gives a forked process; `undefined` where it is none. */
export function connectToSupervisor(number: number, count: number) {
  if (process.send === undefined) return undefined;
  const own = { ...notReady };
  // A shard may have to wait for many others.
  const supervisor = createBirpc<SupervisorCalls, ProcessCalls>(own, overChannel(process, -1));
  const identifying: Identifying = {
    async waitForIdentify(shard, signal) {
      await Promise.race([supervisor.mayIdentify(shard), once(signal, 'abort')]);
      signal.throwIfAborted();
    },
  };
  const others: OtherProcesses = {
    count: count - 1,
    ask: async (name, asked) => {
      const answers: unknown = await supervisor.$call('askOthers', name, asked).catch(() => []);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each process answers by the same functions
      return answers as never;
    },
  };
  return {
    number,
    identifying,
    others,
    /** From now on the process answers by these. */
    answer: (calls: Partial<ProcessCalls>): void => void Object.assign(own, calls),
    /** The process is connected. */
    ready: () => supervisor.ready(),
    /** Lets the process end: the way to the supervisor would hold it. */
    close(): void {
      supervisor.$close();
      if (process.connected) process.disconnect();
    },
  };
}

function overChannel(channel: ChildProcess | NodeJS.Process, timeout: number) {
  return {
    on: (listener: (message: unknown) => void) => void channel.on('message', listener),
    off: (listener: (message: unknown) => void) => void channel.off('message', listener),
    post(message: unknown): void {
      // The other end may just have closed: then the channel says so.
      if (channel.connected) channel.send?.(Object(message), undefined, undefined, () => undefined);
    },
    bind: 'functions',
    timeout,
  } as const;
}
