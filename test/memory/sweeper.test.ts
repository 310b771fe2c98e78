import { expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import { createOneProcess, type Locks } from '../../src/core/processes.ts';
import { createSweeper, type SweepRow } from '../../src/memory/sweeper.ts';
import { deferred } from '../support/deferred.ts';
import { aliceId, bobId, generalId } from '../support/incoming.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { SharedData } from '../support/shared-store.ts';

const minuteMs = 60_000;
const session = { channelId: generalId, userId: aliceId };

/** A sweeper over Alice and Bob, of whom Alice has a conversation. */
function openSweeper(locks: Pick<Locks, 'claim'> = createOneProcess().locks) {
  const disk = { isThere: true };
  const timer = new ManualTimer();
  const logger = new RecordingLogger();
  const sweeper = createSweeper({
    store: {
      folders: async () => [aliceId, bobId, 'notes'].map((name) => ({ name, changedAt: 1 })),
    },
    log: {
      allSessions: () =>
        disk.isThere ? Promise.resolve([session]) : Promise.reject(new StoreError('gone', 'sessions')),
    },
    locks,
    timer: timer.set,
    logger,
  });
  return { ...sweeper, disk, timer, logger };
}

/** A row that notes what it is asked, and fails where it is told to. */
function noting(asked: string[], fails = ''): SweepRow {
  async function note(what: string): Promise<void> {
    asked.push(what);
    if (what === fails) throw new Error('refused');
  }
  return async ({ sessions, people }) => {
    await note('begins');
    await sessions(({ channelId }) => note(channelId));
    if (await people(note)) await note('ends');
  };
}

const whole = ['begins', generalId, aliceId, bobId, 'ends'];

it('has each row look through every conversation and every person, at the start and every hour', async () => {
  const { start, idle, timer } = openSweeper();
  const asked: string[] = [];
  start({ old: noting(asked) });
  await idle();
  expect(asked).toEqual(whole);
  timer.pass(59 * minuteMs);
  await idle();
  expect(asked).toEqual(whole);
  timer.pass(minuteMs);
  await idle();
  expect(asked).toEqual([...whole, ...whole]);
});

it('goes on with all others where one cannot be swept, and tells a row of which something is left', async () => {
  const { start, idle, logger } = openSweeper();
  const asked: string[] = [];
  start({ old: noting(asked, aliceId), gone: noting(asked, 'begins'), much: noting(asked) });
  await idle();
  expect(asked).toEqual(['begins', generalId, aliceId, bobId, 'begins', ...whole]);
  expect(logger.errors).toHaveLength(2);
});

it('looks again in a minute until the disk tells whom there is to ask', async () => {
  const { start, idle, timer, disk } = openSweeper();
  const asked: string[] = [];
  disk.isThere = false;
  start({ old: noting(asked) });
  await idle();
  disk.isThere = true;
  expect(asked).toEqual([]);
  timer.pass(minuteMs);
  await idle();
  expect(asked).toEqual(whole);
});

it('leaves the rest to the next start where it is stopped', async () => {
  const { start, stop, idle, timer } = openSweeper();
  const asked: string[] = [];
  const stopsMidway: SweepRow = async ({ people }) => {
    const isDone = await people(async (userId) => {
      asked.push(userId);
      stop();
    });
    asked.push(String(isDone));
  };
  start({ old: stopsMidway, much: noting(asked) });
  await idle();
  timer.pass(120 * minuteMs);
  await idle();
  expect(asked).toEqual([aliceId, 'false']);
});

it('sweeps in one of several processes at a time, and in the next one where the first was killed meanwhile [K15] [X2]', async () => {
  const data = new SharedData({ now: () => 0 });
  const looked: string[] = [];
  const begun = deferred<void>();
  function start(name: string) {
    const process = data.open();
    const sweeper = openSweeper(process.shared.processes.locks);
    sweeper.start({
      old: () => {
        looked.push(name);
        begun.resolve();
        return name === 'first' ? new Promise(() => {}) : Promise.resolve();
      },
    });
    return { process, ...sweeper };
  }
  const first = start('first');
  await begun.promise;
  const second = start('second');
  await second.idle();
  expect(looked).toEqual(['first']);
  first.process.kill();
  await start('third').idle();
  second.timer.pass(minuteMs);
  await second.idle();
  expect(looked).toEqual(['first', 'third', 'second']);
});
