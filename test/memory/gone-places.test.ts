import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { createOneProcess } from '../../src/core/processes.ts';
import type { DocumentKind } from '../../src/core/store.ts';
import { createGonePlaces, goneChannels, type PresentGuilds } from '../../src/memory/gone-places.ts';
import { createSweeper } from '../../src/memory/sweeper.ts';
import { createFileStore } from '../../src/storage/files/store.ts';
import { LossyDisk, lossyFolder } from '../storage/files/lossy-disk.ts';
import { chanceOf } from '../support/chance.ts';
import { aliceId, bobId } from '../support/incoming.ts';
import { channel, openSessions, silent, startTime } from '../support/sessions.ts';
import { runs } from '../support/runs.ts';

const dayMs = 24 * 60 * 60_000;
const left = '300000000000000001';
const present = '300000000000000002';
/** A channel of the guild that the bot leaves, in which nobody has any memory. */
const unremembered = '200000000000000003';
/** By guild its channel. */
const channels = new Map([
  [left, '200000000000000001'],
  [present, '200000000000000002'],
]);
const anyKind: DocumentKind<{ version: 1; words: string }> = {
  version: 1,
  schema: z.object({ version: z.literal(1), words: z.string() }),
};

function keysOf(guildId: string): readonly string[] {
  return [
    `guilds/${guildId}/settings.json`,
    `channels/${channels.get(guildId)}/outbox.json`,
    ...(guildId === left ? [`channels/${unremembered}/outbox.json`] : []),
    ...[aliceId, bobId].map((userId) => `users/${userId}/short-term/${guildId}.json`),
  ];
}

const onlyPresent = { ids: () => [present], areKnown: () => true };

/** What belongs to guilds, as a process has it, over a disk. */
async function open(disk: LossyDisk, now: number) {
  const store = await createFileStore({
    dataDir: `${lossyFolder}/data`,
    workspaceDir: `${lossyFolder}/workspace`,
    clock: () => new Date(now),
    logger: silent,
    fileSystem: disk.fileSystem,
  });
  const { writes, log, clock, time, say } = openSessions(store);
  time.now = now;
  const guilds = createGonePlaces({
    store,
    writes,
    log,
    layers: [],
    outbox: {
      guildOf: (id) =>
        Promise.resolve(id === unremembered ? { kind: 'guild', guildId: left } : { kind: 'unknown' }),
      drop: (channelId) => store.removeAll(`channels/${channelId}`),
    },
    clock,
    logger: silent,
  });
  const { locks } = createOneProcess();
  const sweeper = createSweeper({ store, log, locks, timer: () => () => {}, logger: silent });
  return {
    store,
    guilds,
    sweep: (presentGuilds: PresentGuilds) => sweeper.start({ gone: guilds.sweep(presentGuilds) }),
    idle: sweeper.idle,
    async fill(): Promise<void> {
      for (const [guildId, channelId] of channels) {
        await say(`words of ${guildId}`, channel('some', channelId, { guildId }));
        for (const key of keysOf(guildId))
          await store.update(key, anyKind, () => ({ version: 1, words: guildId }));
      }
    },
    async held(guildId: string) {
      const found = await Promise.all(keysOf(guildId).map((key) => store.read(key, anyKind)));
      const session = { channelId: channels.get(guildId) ?? '', userId: aliceId };
      const { messages } = await log.since(session, 0);
      return {
        words: found.map((document) => document?.words),
        said: messages.map(({ message }) => message.text),
      };
    },
  };
}

/** The bot leaves a guild, and 31 days later it goes; killed after so many operations each time. Resolves with whether both came to their ends. */
async function leaveAndLook(lasts: readonly number[], losesPower: boolean, seed: number): Promise<boolean> {
  const disk = new LossyDisk();
  let memory = await open(disk, startTime);
  await memory.fill();
  const all = await memory.held(left);
  let isWhole = true;
  const work: readonly ((of: typeof memory) => void)[] = [
    ({ sweep }) => sweep(onlyPresent),
    ({ sweep }) => sweep(onlyPresent),
    ({ sweep }) => sweep(onlyPresent),
  ];
  for (const [at, each] of work.entries()) {
    disk.operationsLeft = lasts[at] ?? Infinity;
    each(memory);
    await memory.idle();
    isWhole &&= disk.operationsLeft > 0;
    disk.operationsLeft = 0;
    await memory.store.close();
    if (losesPower) disk.losePower(chanceOf(seed + at));
    else disk.loseProcess();
    memory = await open(disk, startTime + (at + 1) * 31 * dayMs);
    // Before its time nothing goes.
    const held = await memory.held(left);
    expect(at === 0 ? held : all).toEqual(all);
    expect(await memory.held(present)).toMatchObject({ words: Array.from({ length: 4 }, () => present) });
  }
  // What a kill came between is carried on by the next start; where it came before the leaving was noted, days are counted from then.
  for (const days of [124, 155]) {
    memory.sweep(onlyPresent);
    await memory.idle();
    await memory.store.close();
    memory = await open(disk, startTime + days * dayMs);
  }
  expect(await memory.held(left)).toEqual({ words: all.words.map(() => undefined), said: all.said });
  expect(await memory.held(present)).toEqual({
    words: Array.from({ length: 4 }, () => present),
    said: [`words of ${present}`],
  });
  await memory.store.close();
  return isWhole;
}

/**
 * A channel is deleted, and its data goes 8 days later, with a kill after so many operations each time. Resolves
 * with whether both steps finished.
 */
async function deleteAndLook(lasts: readonly number[], losesPower: boolean, seed: number): Promise<boolean> {
  const [deleted = '', other = ''] = channels.values();
  const both = { ids: () => [left, present], areKnown: () => true };
  const disk = new LossyDisk();
  let memory = await open(disk, startTime);
  await memory.fill();
  let isWhole = true;
  for (const [at, days] of [8, 16].entries()) {
    disk.operationsLeft = lasts[at] ?? Infinity;
    if (at === 0) await memory.guilds.deleted([deleted]);
    else memory.sweep(both);
    await memory.idle();
    isWhole &&= disk.operationsLeft > 0;
    disk.operationsLeft = 0;
    await memory.store.close();
    if (losesPower) disk.losePower(chanceOf(seed + at));
    else disk.loseProcess();
    memory = await open(disk, startTime + days * dayMs);
    // Where a kill came before it was noted, Discord tells it again.
    if (at === 0) await memory.guilds.deleted([deleted]);
  }
  await memory.store.close();
  memory = await open(disk, startTime + 24 * dayMs);
  memory.sweep(both);
  await memory.idle();
  expect(await goneChannels(memory.store)).toEqual(new Set([deleted]));
  expect(await memory.store.list(`sessions/${deleted}`)).toEqual([]);
  expect(await memory.store.list(`channels/${deleted}`)).toEqual([]);
  expect(await memory.held(left)).toMatchObject({ said: [], words: [left, undefined, left, left, left] });
  expect(await memory.store.list(`sessions/${other}`)).not.toEqual([]);
  expect(await memory.held(present)).toMatchObject({
    words: Array.from({ length: 4 }, () => present),
    said: [`words of ${present}`],
  });
  await memory.store.close();
  return isWhole;
}

describe('what belongs to a channel that is deleted', () => {
  it('goes in the end wherever a kill or a loss of power comes, and nothing of other channels or of the server does [K15]', async () => {
    let killed = 0;
    await fc.assert(
      fc.asyncProperty(
        // The first takes some 30 operations, and only where it came to its end is anything erased in the second, which takes some 90.
        fc.tuple(fc.oneof(fc.noBias(fc.nat(30)), fc.constant(1000)), fc.noBias(fc.nat(90))),
        fc.boolean(),
        fc.nat(),
        async (...drawn) => {
          if (!(await deleteAndLook(...drawn))) killed += 1;
        },
      ),
      { numRuns: runs(60) },
    );
    expect(killed).toBeGreaterThan(runs(60) / 2);
  });

  it('is used again where the channel is there after all, and stays [F5]', async () => {
    const disk = new LossyDisk();
    let memory = await open(disk, startTime);
    await memory.fill();
    const all = await memory.held(present);
    await memory.guilds.deleted([channels.get(present) ?? '']);
    expect((await goneChannels(memory.store)).size).toBe(1);
    await memory.store.close();
    memory = await open(disk, startTime + 8 * dayMs);
    memory.sweep({ ...onlyPresent, findChannel: (id) => Promise.resolve({ id }) });
    await memory.idle();
    expect((await goneChannels(memory.store)).size).toBe(0);
    expect(await memory.held(present)).toEqual(all);
    await memory.store.close();
  });

  it('is noted only where something is held, if only an outbox [G3d], so that the list does not grow with each one that a server deletes [S7]', async () => {
    const memory = await open(new LossyDisk(), startTime);
    await memory.fill();
    await memory.guilds.deleted(['200000000000000009', '200000000000000001', unremembered]);
    expect(await goneChannels(memory.store)).toEqual(new Set(['200000000000000001', unremembered]));
    await memory.store.close();
  });
});

describe('what belongs to a server that the bot was removed from', () => {
  it('goes in the end wherever a kill or a loss of power comes, and nothing of another server or of what people said does [K15]', async () => {
    let killed = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.noBias(fc.nat(160)), { minLength: 3, maxLength: 3 }),
        fc.boolean(),
        fc.nat(),
        async (...drawn) => {
          if (!(await leaveAndLook(...drawn))) killed += 1;
        },
      ),
      { numRuns: runs(60) },
    );
    expect(killed).toBeGreaterThan(runs(60) / 2);
  });

  it('stays where the bot is let in again while it is looked for', async () => {
    const disk = new LossyDisk();
    let memory = await open(disk, startTime);
    await memory.fill();
    const all = await memory.held(left);
    memory.sweep(onlyPresent);
    await memory.idle();
    await memory.store.close();
    memory = await open(disk, startTime + 31 * dayMs);
    let asked = 0;
    const ids = () => ((asked += 1) === 1 ? [present] : [present, left]);
    memory.sweep({ ids, areKnown: () => true });
    await memory.idle();
    expect(await memory.held(left)).toEqual(all);
    await memory.store.close();
  });

  it('stays where another process alone can tell whether the bot is there, however long [X3]', async () => {
    const disk = new LossyDisk();
    let memory = await open(disk, startTime);
    await memory.fill();
    const all = [await memory.held(left), await memory.held(present)];
    for (const days of [0, 31, 62]) {
      memory.sweep({ ids: () => [], areKnown: () => false });
      await memory.idle();
      await memory.store.close();
      memory = await open(disk, startTime + days * dayMs);
    }
    expect([await memory.held(left), await memory.held(present)]).toEqual(all);
    await memory.store.close();
  });
});
