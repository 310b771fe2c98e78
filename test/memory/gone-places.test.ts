import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import { createOneProcess } from '../../src/core/processes.ts';
import { createGonePlaces, goneChannels, type PresentGuilds } from '../../src/memory/gone-places.ts';
import { createSweeper } from '../../src/memory/sweeper.ts';
import { aliceId } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { runs } from '../support/runs.ts';
import { channel, openSessions, silent } from '../support/sessions.ts';

const dayMs = 24 * 60 * 60_000;
const left = '300000000000000001';
const present = '300000000000000002';
const [inLeft, inPresent, unremembered] = ['200000000000000001', '200000000000000002', '200000000000000003'];

/** A store that fails when so many of its writes are done. */
class FailingStore extends MemoryStore {
  writesLeft = Infinity;
  override update: MemoryStore['update'] = (...all) => this.#may() ?? super.update(...all);
  override remove: MemoryStore['remove'] = (...all) => this.#may() ?? super.remove(...all);
  override removeAll: MemoryStore['removeAll'] = (...all) => this.#may() ?? super.removeAll(...all);
  #may(): Promise<never> | undefined {
    return (this.writesLeft -= 1) < 0 ? Promise.reject(new StoreError('full', 'any')) : undefined;
  }
}

/** Two guilds with a channel in each, in which Alice has talked, and settings, exchanges and outboxes of them. */
async function open() {
  const store = new FailingStore();
  const sessions = openSessions(store);
  const { log, time } = sessions;
  const places = createGonePlaces({
    ...sessions,
    layers: [],
    outbox: {
      guildOf: async (id) => (id === unremembered ? { kind: 'guild', guildId: left } : { kind: 'unknown' }),
      drop: (channelId) => store.removeAll(`channels/${channelId}`),
    },
    logger: silent,
  });
  const { locks } = createOneProcess();
  const sweeper = createSweeper({ store, log, locks, timer: () => () => {}, logger: silent });
  for (const [guildId, channelId] of [[left, inLeft], [present, inPresent]] as const) {
    await sessions.say(`words of ${guildId}`, channel('some', channelId, { guildId }));
    for (const key of [`guilds/${guildId}/settings.json`, `users/${aliceId}/short-term/${guildId}.json`])
      await store.writeText(key, '{}');
    await store.writeText(`channels/${channelId}/outbox.json`, '{}');
  } // prettier-ignore
  await store.writeText(`channels/${unremembered}/outbox.json`, '{}');
  return {
    store,
    places,
    sweep: async (days: number, guilds: Partial<PresentGuilds> = {}) => {
      time.now += days * dayMs;
      const all = { ids: () => [present], areKnown: () => true, ...guilds };
      sweeper.start({ gone: places.sweep(all) });
      await sweeper.idle();
    },
    /** What is there, by its beginning. */
    held: async () => {
      const folders = ['guilds', 'users', 'channels', 'sessions'];
      const all = await Promise.all(
        folders.map(async (folder) => (await store.list(folder)).map(({ path }) => `${folder}/${path}`)),
      );
      return all
        .flat()
        .filter((key) => !key.endsWith('sessions.json'))
        .toSorted();
    },
  };
}

const ofServer = new Set([
  `channels/${inLeft}/outbox.json`,
  `channels/${unremembered}/outbox.json`,
  `guilds/${left}/settings.json`,
  `users/${aliceId}/short-term/${left}.json`,
]);
const ofChannel = (key: string): boolean => key.includes(`/${inLeft}/`);

describe('what belongs to a channel that is deleted', () => {
  const both = { ids: () => [left, present] };

  it('is used no more at once and gone a week later, wherever the disk came between, and nothing else is [K15]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(12), async (writes) => {
        const { store, places, sweep, held } = await open();
        const all = await held();
        await places.deleted([inLeft]);
        expect(await goneChannels(store)).toEqual(new Set([inLeft]));
        await sweep(6.9, both);
        expect(await held()).toEqual(all);
        store.writesLeft = writes;
        await sweep(0.2, both);
        store.writesLeft = Infinity;
        await sweep(0, both);
        expect(await held()).toEqual(all.filter((key) => !ofChannel(key)));
        expect(await goneChannels(store)).toEqual(new Set([inLeft]));
      }),
      { numRuns: runs(30) },
    );
  });

  it('is used again where the channel is there after all, and stays [F5]', async () => {
    const { store, places, sweep, held } = await open();
    const all = await held();
    await places.deleted([inPresent]);
    await sweep(8, { findChannel: async (id) => ({ id }) });
    expect((await goneChannels(store)).size).toBe(0);
    expect(await held()).toEqual(all);
  });

  it('is noted only where something is held, if only an outbox [G3d], so that the list does not grow with each one that a server deletes [S7]', async () => {
    const { store, places } = await open();
    await places.deleted(['200000000000000009', inLeft, unremembered]);
    expect(await goneChannels(store)).toEqual(new Set([inLeft, unremembered]));
  });
});

describe('what belongs to a server that the bot was removed from', () => {
  it('is gone thirty days later, wherever the disk came between, and nothing of another server or of what people said is [K15]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(12), async (writes) => {
        const { store, sweep, held } = await open();
        const all = await held();
        await sweep(0);
        await sweep(29.9);
        expect(await held()).toEqual(all);
        store.writesLeft = writes;
        await sweep(0.2);
        store.writesLeft = Infinity;
        await sweep(0);
        expect(await held()).toEqual(all.filter((key) => !ofServer.has(key)));
      }),
      { numRuns: runs(30) },
    );
  });

  it('stays where the bot is let in again while it is looked for', async () => {
    const { sweep, held } = await open();
    const all = await held();
    await sweep(0);
    let asked = 0;
    await sweep(31, { ids: () => ((asked += 1) === 1 ? [present] : [present, left]) });
    expect(await held()).toEqual(all);
  });

  it('stays for another thirty days where the bot was there again in between [K15]', async () => {
    const { sweep, held } = await open();
    const all = await held();
    await sweep(0);
    await sweep(20, { ids: () => [present, left] });
    await sweep(20);
    expect(await held()).toEqual(all);
    await sweep(31);
    expect(await held()).toEqual(all.filter((key) => !ofServer.has(key)));
  });

  it('stays where another process alone can tell whether the bot is there, however long [X3]', async () => {
    const { sweep, held } = await open();
    const all = await held();
    for (const days of [0, 31, 62]) await sweep(days, { ids: () => [], areKnown: () => false });
    expect(await held()).toEqual(all);
  });
});
