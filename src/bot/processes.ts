import { createBirpc } from 'birpc';
import { once } from 'node:events';
import { type ChildProcess, fork } from 'node:child_process';

import type { StatusFacts } from '../commands/status-command.ts';
import type { ChannelPort, ChannelTalk, ChannelWish, ReadChannel } from '../core/chat.ts';
import type { Place } from '../core/place.ts';
import type { Shards } from '../core/processes.ts';
import type { Identifying } from '../discord/shard.ts';
import type { Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import type { SizedAnswer } from '../memory/provenance.ts';
import type { PagePath, PagePerson } from '../page/sign-in.ts';
import { withDiscord } from '../discord/checkup.ts';

/** @throws {GatewayError} */
export function askAboutShards({ discord }: Config, token: string, logger: Logger) {
  return withDiscord({ token, apiUrl: discord.apiUrl, logger }, (checkup) => checkup.shards());
}

/** This machine's shards [X3]; with `auto`, as many as Discord recommends, and at least one per process. */
export function shardsHere({ shards }: Config, recommended: number): Shards {
  const count = shards.count === 'auto' ? Math.max(recommended, shards.processes) : shards.count;
  return { count, ids: shards.ids ?? Array.from({ length: count }, (_, id) => id) };
}

/** Divides shards evenly among at most so many processes, neighbours together. */
export function divideShards({ count, ids }: Shards, processes: number): readonly Shards[] {
  const parts = Math.min(processes, ids.length);
  const beginOf = (index: number): number => Math.floor((index * ids.length) / parts);
  return Array.from({ length: parts }, (_, index) => ({
    count,
    ids: ids.slice(beginOf(index), beginOf(index + 1)),
  }));
}

/** Such as `0-3,6`. */
export function shownShards(ids: readonly number[]): string {
  const ranges: { first: number; last: number }[] = [];
  for (const id of ids) {
    const range = ranges.at(-1);
    if (range?.last === id - 1) range.last = id;
    else ranges.push({ first: id, last: id });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(',');
}

/** What the supervisor, and other processes through it, may call in a supervised process [X3]. */
export interface ProcessCalls {
  health(): Promise<{ readonly unhealthy: string | undefined; readonly unready: string | undefined }>;
  /** In prom-client's form. */
  metrics(): Promise<readonly object[]>;
  /** `undefined` before it is ready. */
  status(): Promise<StatusFacts | undefined>;
  /** `undefined` for channels of other shards. */
  placeOf(channelId: string): Promise<Place | undefined>;
  /** `false` for channels of other shards. */
  personMay(...asked: Parameters<ChannelPort['personMay']>): Promise<boolean>;
  /** Called for a direct message; reads only channels of its own shards. */
  readChannel(wish: ChannelWish): Promise<ChannelTalk>;
  /** Of this process alone. */
  sizesOf(userId: string): Promise<readonly SizedAnswer[]>;
  /** `undefined` in a process without the page. */
  pageLink(person: PagePerson, path?: PagePath): Promise<string | undefined>;
}

export interface SupervisorCalls {
  /** Resolves when a shard may identify: one per rate-limit key in five seconds, over all processes. */
  mayIdentify(shard: number): Promise<void>;
  ready(): void;
  /** Calls all other processes; those that do not answer are left out. */
  askOthers<Name extends keyof ProcessCalls>(
    name: Name,
    asked: Parameters<ProcessCalls[Name]>,
  ): Promise<readonly Awaited<ReturnType<ProcessCalls[Name]>>[]>;
}

/** The other processes of this machine. Calls never reject: processes that do not answer are left out. */
export interface OtherProcesses {
  readonly count: number;
  readonly ask: SupervisorCalls['askOthers'];
}

export interface RunningProcess {
  /** Each rejects when the process is gone or does not answer in time. */
  readonly calls: {
    [Name in keyof ProcessCalls]: (
      ...asked: Parameters<ProcessCalls[Name]>
    ) => Promise<Awaited<ReturnType<ProcessCalls[Name]>>>;
  };
  /** Never rejects; `error` says why the process could not be started. */
  readonly exited: Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly error?: unknown;
  }>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** Milliseconds for an answer; reading a long channel takes several requests to Discord. */
const patienceMs = 10_000;

/** Starts this program as process `number` of `count`; environment variables name its shards. */
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
    // Keeps dates and `undefined`.
    serialization: 'advanced',
  });
  const calls = createBirpc<ProcessCalls, SupervisorCalls>(own, overChannel(child, patienceMs));
  const exited = new Promise<Awaited<RunningProcess['exited']>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', (error) => {
      // With a pid, only a signal or message could not be sent: the process goes on, or `exit` follows.
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
  sizesOf: async () => [],
  pageLink: async () => undefined,
};

export type Supervised = NonNullable<ReturnType<typeof connectToSupervisor>>;

/** Connects process `number` of `count` to its supervisor; `undefined` in a process that was not forked. */
export function connectToSupervisor(number: number, count: number) {
  if (process.send === undefined) return undefined;
  const own = { ...notReady };
  // Without a timeout: a shard may wait for many others.
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
    /** Adds what the process can answer from now on. */
    answer: (calls: Partial<ProcessCalls>): void => void Object.assign(own, calls),
    ready: () => supervisor.ready(),
    /** Closes the channel, which would keep the process alive. */
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
      // Errors are ignored: the other end may just have closed.
      if (channel.connected) channel.send?.(Object(message), undefined, undefined, () => undefined);
    },
    bind: 'functions',
    timeout,
  } as const;
}

interface ChannelPorts {
  readonly channels: ChannelPort;
  readonly readChannel: ReadChannel;
}

/** Each process answers for channels that it holds [X3]. Where none does, this one's own ports decide [V0]. */
export function acrossProcesses(
  { channels, readChannel }: ChannelPorts,
  { ask }: Pick<OtherProcesses, 'ask'>,
  isHeld: (channelId: string) => boolean,
): ChannelPorts {
  return {
    channels: {
      async placeOf(channelId) {
        if (isHeld(channelId)) return channels.placeOf(channelId);
        const places = await ask('placeOf', [channelId]);
        return places.find((place) => place !== undefined) ?? channels.placeOf(channelId);
      },
      async personMay(capability, channelId, userId) {
        if (isHeld(channelId)) return channels.personMay(capability, channelId, userId);
        const answers = await ask('personMay', [capability, channelId, userId]);
        return answers.includes(true) || channels.personMay(capability, channelId, userId);
      },
    },
    async readChannel(wish) {
      const own = await readChannel(wish);
      // In a server, only its own channels can be meant.
      if (wish.place.audience !== 'dm' || wish.channel === undefined) return own;
      const found = [own, ...(await ask('readChannel', [wish]))].filter(({ kind }) => kind !== 'none');
      const [one] = found;
      return one !== undefined && found.length > 1 ? { kind: 'several' } : (one ?? own);
    },
  };
}

/** A process's answers to others, for channels that its client holds. */
export function answersOfChannels(
  { channels, readChannel }: ChannelPorts,
  isHeld: (channelId: string) => boolean,
): Pick<ProcessCalls, 'placeOf' | 'personMay' | 'readChannel'> {
  return {
    placeOf: async (channelId) => (isHeld(channelId) ? channels.placeOf(channelId) : undefined),
    personMay: async (capability, channelId, userId) =>
      isHeld(channelId) && channels.personMay(capability, channelId, userId),
    readChannel,
  };
}
