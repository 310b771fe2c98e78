import { expect, it } from 'vitest';

import { createSessions } from '../../../src/memory/log/sessions.ts';
import { aliceId, bobId, generalId, publicPlace } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { channel, dmPlace, openSessions, session } from '../../support/sessions.ts';

const listKey = `users/${aliceId}/sessions.json`;
const inDm = { channelId: dmPlace.channelId, userId: aliceId };

/** Counts the folders that are looked at, and the sessions' states that are read. */
class CountingStore extends MemoryStore {
  looks = 0;
  states = 0;
  override read: MemoryStore['read'] = (key, kind) => {
    if (key.endsWith('state.json')) this.states += 1;
    return super.read(key, kind);
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

it('the guild of a channel is read once, and known of no channel in which nothing is held', async () => {
  const store = new CountingStore();
  const { turn, log } = openSessions(store);
  await turn('one');
  await turn('two', 'ok', dmPlace);
  const guilds = async () =>
    Promise.all(
      [generalId, dmPlace.channelId, '200000000000000299'].map((channelId) => log.guildOf(channelId)),
    );
  const told = [{ kind: 'guild', guildId: publicPlace.guildId }, { kind: 'dm' }, { kind: 'unknown' }];
  expect(await guilds()).toEqual(told);
  const { looks } = store;
  expect(await guilds()).toEqual(told);
  expect(store.looks).toBe(looks + 1);
});

it("the guilds of a person's sessions are read once, even for somebody else, and those of new ones are added", async () => {
  const store = new CountingStore();
  const { turn, log } = openSessions(store);
  await turn('one');
  await turn('two', 'ok', dmPlace);
  expect(await log.guildsOf(aliceId)).toEqual([publicPlace.guildId]);
  const elsewhere = channel('elsewhere', '200000000000000298', { guildId: '300000000000000002' });
  await turn('three', 'ok', elsewhere);
  await log.guildOf(elsewhere.channelId);
  const { states } = store;
  expect(await log.guildsOf(aliceId)).toEqual([publicPlace.guildId, elsewhere.guildId]);
  expect(store.states).toBe(states);
});
