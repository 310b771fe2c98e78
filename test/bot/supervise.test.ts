import { describe, expect, it } from 'vitest';

import {
  type ProcessCalls,
  type SupervisorCalls,
  divideShards,
  shownShards,
} from '../../src/bot/processes.ts';
import { createSupervisor } from '../../src/bot/supervise.ts';
import type { Shards } from '../../src/core/processes.ts';
import { deferred } from '../support/deferred.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

type End = { readonly code: number | null; readonly signal: string | null };

const settle = () => new Promise((resolve) => setImmediate(resolve));

/** Processes that end when the test says so, and a clock that goes on when nothing else does. */
function open(
  parts: readonly Shards[] = divideShards({ count: 4, ids: [0, 1, 2, 3] }, 2),
  failsAtFirst?: number,
) {
  const started: number[] = [];
  const killed: string[] = [];
  const waits: { readonly ms: number; readonly over: () => void }[] = [];
  const ends = new Map<number, (end: End) => void>();
  const owns = new Map<number, SupervisorCalls>();
  const answers = new Map<number, Partial<{ [Name in keyof ProcessCalls]: unknown }>>();
  const identifying: { readonly shard: number; readonly signal: AbortSignal }[] = [];
  const logger = new RecordingLogger();
  let now = 0;
  const supervisor = createSupervisor({
    parts,
    start(number, _shards, own) {
      started.push(number);
      if (number === failsAtFirst && started.filter((each) => each === number).length === 1)
        throw new Error('spawn EAGAIN');
      owns.set(number, own);
      const exit = deferred<End>();
      ends.set(number, exit.resolve);
      const answer = (name: keyof ProcessCalls) => async () => {
        const given = answers.get(number) ?? {};
        if (!(name in given)) throw new Error('No answer');
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the test gave
        return given[name] as never;
      };
      return {
        calls: {
          health: answer('health'),
          metrics: answer('metrics'),
          status: answer('status'),
          placeOf: answer('placeOf'),
          personMay: answer('personMay'),
          readChannel: answer('readChannel'),
          sizesOf: answer('sizesOf'),
          pageLink: answer('pageLink'),
        },
        exited: exit.promise,
        kill(signal) {
          killed.push(`${number} ${signal}`);
        },
      };
    },
    mayIdentify: (shard, signal) =>
      new Promise((resolve) => {
        identifying.push({ shard, signal });
        signal.addEventListener('abort', () => resolve());
      }),
    wait: (ms, signal) =>
      new Promise((resolve) => {
        waits.push({ ms, over: resolve });
        signal.addEventListener('abort', () => resolve());
      }),
    now: () => now,
    logger,
  });
  return {
    supervisor,
    started,
    killed,
    waits,
    answers,
    identifying,
    logger,
    own: (number: number): SupervisorCalls => {
      const own = owns.get(number);
      if (own === undefined) throw new Error(`Process ${number} was never started`);
      return own;
    },
    end: async (number: number, code: number | null, signal: string | null = null): Promise<void> => {
      ends.get(number)?.({ code, signal });
      await settle();
    },
    wakeUp: async (): Promise<void> => {
      waits.at(-1)?.over();
      await settle();
    },
    pass: (ms: number): void => {
      now += ms;
    },
  };
}

const divided = (ids: readonly number[], processes: number) =>
  divideShards({ count: 9, ids }, processes).map((part) => shownShards(part.ids));

describe('the processes of a bot [X3]', () => {
  it('have neighbouring shards, as evenly as can be, and no more processes than shards', () => {
    expect(divided([0, 1, 2, 3, 4, 5, 6, 7, 8], 2)).toEqual(['0-3', '4-8']);
    expect(divided([0, 1, 2, 5, 6], 3)).toEqual(['0', '1-2', '5-6']);
    expect(divided([3, 4], 5)).toEqual(['3', '4']);
  });

  it('are ready when all are', async () => {
    const { supervisor, own, started } = open();
    let isReady = false;
    void supervisor.ready.then(() => (isReady = true));
    expect(started).toEqual([1, 2]);
    own(1).ready();
    await supervisor.unready();
    expect(isReady).toBe(false);
    own(2).ready();
    await supervisor.ready;
  });

  it('are started again where one ends, and only that, later each time that it ends soon', async () => {
    const { started, end, wakeUp, waits, own, pass, logger } = open();
    for (let times = 0; times < 9; times += 1) {
      await end(2, times % 2 === 0 ? null : 1, times % 2 === 0 ? 'SIGKILL' : null);
      await wakeUp();
    }
    expect(started.filter((number) => number === 1)).toHaveLength(1);
    expect(started.filter((number) => number === 2)).toHaveLength(10);
    expect(waits.map(({ ms }) => ms)).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]);
    own(2).ready();
    pass(30_000);
    await end(2, 1);
    expect(waits.at(-1)?.ms).toBe(500);
    expect(logger.errors).toContain('a process of the bot has ended and is started again');
  });

  it('all end where one cannot run, with what only the operator can mend [O2]', async () => {
    const { supervisor, end, started } = open();
    await Promise.all([expect(supervisor.ended).rejects.toThrow('process 2 (shards 2-3) ended'), end(2, 78)]);
    expect(started).toEqual([1, 2]);
  });

  it('are told to stop, and are ended where they do not in time [G4]', async () => {
    const { supervisor, end, killed, wakeUp, started } = open();
    const stopped = supervisor.stop(9000);
    await settle();
    expect(killed).toEqual(['1 SIGTERM', '2 SIGTERM']);
    await end(1, 0);
    await wakeUp();
    expect(killed).toContain('2 SIGKILL');
    await end(2, null, 'SIGKILL');
    await stopped;
    await supervisor.ended;
    expect(started).toEqual([1, 2]);
  });

  it('stop waiting for a start when the bot is to stop', async () => {
    const { supervisor, end, started } = open();
    await end(2, 1);
    const stopped = supervisor.stop(9000);
    await end(1, 0);
    await stopped;
    await supervisor.ended;
    expect(started).toEqual([1, 2]);
  });

  it('let shards identify one after the other; a dead process no longer waits', async () => {
    const { own, identifying, end } = open();
    const waiting = own(2).mayIdentify(3);
    expect(identifying.map(({ shard, signal }) => [shard, signal.aborted])).toEqual([[3, false]]);
    await end(2, 1);
    await waiting;
    expect(identifying[0]?.signal.aborted).toBe(true);
  });

  it('are asked by each other, without those that are away or do not answer', async () => {
    const { own, answers, end } = open(divideShards({ count: 4, ids: [0, 1, 2, 3] }, 4));
    answers.set(1, { personMay: false });
    answers.set(2, { personMay: true });
    answers.set(3, { personMay: false });
    expect(await own(1).askOthers('personMay', ['read', '1', '2'])).toContain(true);
    await end(2, 1);
    expect(await own(1).askOthers('personMay', ['read', '1', '2'])).toEqual([false]);
  });

  it('are started again where the system could not start them', async () => {
    const { logger, started, wakeUp, waits } = open(undefined, 2);
    await settle();
    expect(started).toEqual([1, 2]);
    expect(waits).toHaveLength(1);
    await wakeUp();
    expect(started).toEqual([1, 2, 2]);
    expect(logger.errors).toContain('a process of the bot has ended and is started again');
  });

  it('are well and ready together [O3]', async () => {
    const { supervisor, own, answers, end } = open();
    expect(await supervisor.unready()).toBe('process 1 (shards 0-1) is not connected to Discord yet');
    expect(await supervisor.unhealthy()).toBeUndefined();
    for (const number of [1, 2]) {
      answers.set(number, {
        health: { unhealthy: undefined, unready: undefined },
        metrics: [{ of: number }],
      });
      own(number).ready();
    }
    expect([await supervisor.unhealthy(), await supervisor.unready()]).toEqual([undefined, undefined]);
    expect(await supervisor.metrics()).toEqual([[{ of: 1 }], [{ of: 2 }]]);
    answers.set(2, { health: { unhealthy: 'the newest write failed', unready: undefined } });
    expect(await supervisor.unhealthy()).toBe('process 2 (shards 2-3): the newest write failed');
    answers.delete(2);
    expect(await supervisor.unhealthy()).toBe('process 2 (shards 2-3) does not answer');
    await end(2, 1);
    expect(await supervisor.unready()).toBe('process 2 (shards 2-3) is not connected to Discord yet');
    expect(await supervisor.metrics()).toEqual([[{ of: 1 }]]);
  });
});
