import { expect, it } from 'vitest';

import { snowflakeAt } from '../../../src/core/snowflake.ts';

import { createSessions } from '../../../src/memory/log/sessions.ts';
import { aliceId, bobId, generalId, publicPlace } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { dmPlace, openSessions, session, startTime } from '../../support/sessions.ts';

const listKey = `users/${aliceId}/sessions.json`;
const inDm = { channelId: dmPlace.channelId, userId: aliceId };

/** Counts the folders that are looked at and the logs that are read. */
class CountingStore extends MemoryStore {
  looks = 0;
  reads = 0;
  override scan: MemoryStore['scan'] = (...parameters) => {
    this.reads += 1;
    return super.scan(...parameters);
  };
  override folders: MemoryStore['folders'] = (...parameters) => {
    this.looks += 1;
    return super.folders(...parameters);
  };
}

it("a person's sessions are found in the folders once, and in their list from then on, also after a restart", async () => {
  const store = new CountingStore();
  const first = openSessions(store);
  await first.turn('one');
  expect(await first.log.sessionsOfPerson(aliceId)).toEqual([session]);
  expect(await first.log.sessionsOfPerson(bobId)).toEqual([]);
  const { looks } = store;
  await first.turn('two', 'ok', dmPlace);
  const again = openSessions(store);
  for (const { log } of [first, again]) expect(await log.sessionsOfPerson(aliceId)).toEqual([session, inDm]);
  expect(store.looks).toBe(looks);
});

it('a missing list is rebuilt, and nobody without sessions gets one', async () => {
  const store = new MemoryStore();
  const { turn, log } = openSessions(store);
  await turn('one');
  await log.sessionsOfPerson(aliceId);
  await store.remove(listKey);
  expect(await createSessions(store).ofPerson(aliceId)).toEqual([session]);
  await createSessions(store).ofPerson(bobId);
  await createSessions(store).begin(inDm);
  expect(await createSessions(store).ofPerson(aliceId)).toEqual([session, inDm]);
  expect((await store.list('users')).map(({ path }) => `users/${path}`)).toEqual([listKey]);
});

it('the list names no session of theirs that was erased [S7]', async () => {
  const store = new MemoryStore();
  const { turn, log } = openSessions(store);
  await turn('one');
  await turn('two', 'ok', dmPlace);
  await log.sessionsOfPerson(aliceId);
  await log.delete({ kind: 'conversations', userId: aliceId, sessions: [session] });
  expect(await log.sessionsOfPerson(aliceId)).toEqual([inDm]);
  expect(await store.everything()).not.toContain(generalId);
});

it('the guild of a channel is known of no channel in which nothing is held', async () => {
  const { turn, log } = openSessions();
  await turn('one');
  await turn('two', 'ok', dmPlace);
  const channelIds = [generalId, dmPlace.channelId, '200000000000000299'];
  const told = [{ kind: 'guild', guildId: publicPlace.guildId }, { kind: 'dm' }, { kind: 'unknown' }];
  expect(await Promise.all(channelIds.map((channelId) => log.guildOf(channelId)))).toEqual(told);
});

it('a deletion opens the logs of those alone who have the message, said before a start or since [L4]', async () => {
  const store = new CountingStore();
  const first = openSessions(store);
  const ids = await first.turn('one');
  const bobsTurn = { ...first.contextOf(['two']), speaker: { id: bobId, name: 'Bob', isOwner: false } };
  await first.log.recordUser(bobsTurn);
  const bobs = { channelId: generalId, userId: bobId };
  const holders = (of: typeof first, messageIds: readonly string[]) =>
    of.log.sessionsOf({ kind: 'deleted', channelId: generalId, messageIds });
  const both = [...ids, bobsTurn.messages[0]?.id ?? ''];
  store.reads = 0;
  expect(await holders(first, ids.slice(1))).toEqual([session]);
  expect(await holders(first, both)).toEqual([session, bobs]);
  const again = openSessions(store);
  expect(await holders(again, [snowflakeAt(new Date(startTime + 2 * 3_600_000))])).toEqual([]);
  expect(store.reads).toBe(0);
  expect(await holders(again, both)).toEqual(expect.arrayContaining([session, bobs]));
  const { reads } = store;
  expect(await holders(again, ids)).toEqual([session]);
  expect(store.reads).toBe(reads);
  again.log.evict?.(aliceId);
  expect(await holders(again, ids)).toEqual([session]);
  expect(store.reads).toBeGreaterThan(reads);
});

it('what is remembered of a channel takes the logs of those who talked since, however many have talked there [G3b]', async () => {
  const store = new MemoryStore();
  const logs = new Set<string>();
  const { log, contextOf } = openSessions(
    Object.assign(store, {
      folders: async (...parameters: Parameters<MemoryStore['folders']>) => {
        const found = await MemoryStore.prototype.folders.apply(store, parameters);
        // All but the last were written to a day ago.
        return found.map((each, index) => ({
          ...each,
          changedAt: Date.now() - (index < found.length - 1 ? 86_400_000 : 0),
        }));
      },
      scan: (...parameters: Parameters<MemoryStore['scan']>) => {
        logs.add(parameters[0]);
        return MemoryStore.prototype.scan.apply(store, parameters);
      },
    }),
  );
  const people = ['100000000000000001', '100000000000000002', '100000000000000003'];
  const at = snowflakeAt(new Date());
  for (const [index, id] of people.entries()) {
    const messages = [{ id: String(BigInt(at) + BigInt(index)), text: 'hi', at: '', attachments: [] }];
    await log.recordUser({ ...contextOf([]), speaker: { id, name: 'Bo', isOwner: false }, messages });
  }
  logs.clear();
  const found = await log.rememberedSince(generalId, at);
  expect(found.map(({ ids }) => ids)).toEqual([[String(BigInt(at) + 2n)]]);
  expect(logs.size).toBe(1);
});
