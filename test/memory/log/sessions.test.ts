import { expect, it } from 'vitest';

import { createSessions } from '../../../src/memory/log/sessions.ts';
import { aliceId, bobId, generalId, publicPlace } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { dmPlace, openSessions, session } from '../../support/sessions.ts';

const listKey = `users/${aliceId}/sessions.json`;
const inDm = { channelId: dmPlace.channelId, userId: aliceId };

/** Counts the folders that are looked at. */
class CountingStore extends MemoryStore {
  looks = 0;
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

it('a session is in the list before its log begins', async () => {
  const store = new MemoryStore();
  await openSessions(store).turn('one');
  await createSessions(store).ofPerson(aliceId);
  await createSessions(store).begin(inDm);
  expect(await createSessions(store).ofPerson(aliceId)).toEqual([session, inDm]);
});

it('a session that begins while the folders are looked through is in the list', async () => {
  const store = new MemoryStore();
  const { turn, log } = openSessions(store);
  await turn('one');
  const [found] = await Promise.all([log.sessionsOfPerson(aliceId), turn('two', 'ok', dmPlace)]);
  expect(found).toContainEqual(session);
  expect(await createSessions(store).ofPerson(aliceId)).toEqual([session, inDm]);
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
  await log.erase({ userId: aliceId, sessions: [session], isWhole: false });
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
