import { describe, expect, it } from 'vitest';

import type { SessionKey } from '../../src/core/place.ts';
import { processTimer } from '../../src/core/time.ts';
import { createWorkQueue } from '../../src/core/work-queue.ts';
import { createAfterTurn, expiryKey, type AfterTurnPorts } from '../../src/turn/after-turn.ts';
import { aliceId, bobId, generalId } from '../support/incoming.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { SharedData } from '../support/shared-store.ts';

const aliceInGeneral = { channelId: generalId, userId: aliceId };
const aliceInDev = { channelId: '200000000000000002', userId: aliceId };
const bobInGeneral = { channelId: generalId, userId: bobId };

const { begin } = plainWrites();

const workInMemory = () =>
  createWorkQueue({ clock: () => new Date(), timer: processTimer, logger: recordingLogger() });

/** Work after turns where everything may be stored. */
function afterTurnOf(ports: Pick<AfterTurnPorts, 'layers' | 'work'> & Partial<AfterTurnPorts>) {
  return createAfterTurn({
    begin,
    states: { read: () => Promise.resolve({ version: 1 as const }) },
    log: { lastSequence: () => Promise.resolve(1) },
    settings: { isMemoryOff: () => Promise.resolve(false) },
    people: { mayStore: () => Promise.resolve(true) },
    goneChannels: () => Promise.resolve(new Set()),
    expire: () => Promise.resolve(),
    logger: recordingLogger(),
    ...ports,
  });
}

describe('work after a turn', () => {
  it.each([
    ['in a channel that is there', true],
    ['in one that is deleted', false],
  ])('%s: something is made of what was said: %s [K15]', async (_, isThere) => {
    const seen: (readonly SessionKey[])[] = [];
    const work = workInMemory();
    const afterTurn = afterTurnOf({
      layers: [{ name: 'log', fold: (_user, sessions) => Promise.resolve(void seen.push(sessions)) }],
      work,
      goneChannels: () => Promise.resolve(new Set(isThere ? [] : [generalId])),
    });
    for (const session of [aliceInGeneral, aliceInDev]) afterTurn.schedule(session);
    await work.idle();
    expect(seen).toEqual([isThere ? [aliceInGeneral, aliceInDev] : [aliceInDev]]);
  });

  it('runs its layers in order, and one that fails does not keep the others from running [A1]', async () => {
    const ran: string[] = [];
    const logger = recordingLogger();
    const step = (name: string, fails = false) => ({
      name,
      fold: () => {
        ran.push(name);
        return fails ? Promise.reject(new Error('no')) : Promise.resolve();
      },
    });
    const steps = [step('log'), step('rolling', true), step('durable')];
    const work = workInMemory();
    const afterTurn = afterTurnOf({ layers: steps, work, logger });
    afterTurn.schedule(aliceInGeneral);
    await work.idle();
    expect(ran).toEqual(['log', 'rolling', 'durable']);
    expect(logger.lines.map(({ data }) => data?.['layer'])).toEqual(['rolling']);
  });

  it('runs for a turn even if expiring records cannot be read yet, which is tried again [S7] [X2]', async () => {
    const process = new SharedData({ now: () => 0 }).open();
    const folded: (readonly SessionKey[])[] = [];
    let looks = 0;
    const afterTurn = afterTurnOf({
      layers: [{ name: 'log', fold: (_, sessions) => Promise.resolve(void folded.push(sessions)) }],
      work: process.shared.work,
      expire: () => ((looks += 1) === 1 ? Promise.reject(new Error('out of reach')) : Promise.resolve()),
    });
    afterTurn.schedule(aliceInGeneral);
    await process.shared.work.add(aliceId, expiryKey, new Date(0));
    while (await process.takeWork());
    expect(looks).toBe(2);
    expect(folded[0]).toEqual([aliceInGeneral]);
  });

  it('is done once what kept it back is over: a limit on cost, and a pause after a failure [L2] [M16]', async () => {
    const until = new Date(Date.now() + 60_000);
    const work = workInMemory();
    const waiting: unknown[] = [];
    const afterTurn = afterTurnOf({
      layers: [{ name: 'rolling', fold: () => Promise.resolve() }],
      work: {
        ...work,
        add(userId, key, at) {
          if (at !== undefined) waiting.push([userId, key, at]);
          return work.add(userId, key, at);
        },
      },
      heldUntil: [
        (userId) => (userId === aliceId ? until : undefined),
        (userId) => (userId === aliceId ? new Date(until.getTime() - 1) : undefined),
        () => undefined,
      ],
    });
    for (const session of [aliceInGeneral, aliceInDev, bobInGeneral]) afterTurn.schedule(session);
    await work.idle();
    expect(waiting).toEqual([
      [aliceId, generalId, until],
      [aliceId, aliceInDev.channelId, until],
    ]);
  });
});
