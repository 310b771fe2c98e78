import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

import { StoreError } from '../../src/core/errors.ts';
import type { ChangeLedger } from '../../src/memory/changes.ts';
import type { AnswerKeeper } from '../../src/memory/deleting.ts';
import { durableDocumentKind } from '../../src/memory/durable/document.ts';
import type { MemoryLayer } from '../../src/memory/layer.ts';
import { createDurableMemory, type DurableMemory } from '../../src/memory/durable/durable-memory.ts';
import { deferred } from '../support/deferred.ts';
import { aliceId, bobId, generalId, publicPlace } from '../support/incoming.ts';
import { noAnswers } from '../support/layers-alone.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { openSessions, secretPlace, session, silent, type Sessions } from '../support/sessions.ts';
import { durableSettings } from '../support/layer-settings.ts';
import { changesFolder, withheldKind } from '../../src/memory/withheld.ts';
import { unconditional, RefusedJobError, type Work } from '../../src/core/writes.ts';

const work = unconditional(aliceId);

/** A store that fails to rewrite logs when told so: as if a kill came before the log's own lines were cleared and the change was done. */
class RefusingStore extends MemoryStore {
  refusesRewrites = false;
  /** Of one log only. */
  refusesRewritesOf: string | undefined;
  override rewrite: MemoryStore['rewrite'] = (...parameters) =>
    this.refusesRewrites ||
    (this.refusesRewritesOf !== undefined && parameters[0].startsWith(this.refusesRewritesOf))
      ? Promise.reject(new StoreError('disk full', 'log'))
      : super.rewrite(...parameters);
}

function openDurable(sessions: Sessions): DurableMemory {
  const durable: DurableMemory = createDurableMemory({
    settings: durableSettings,
    store: sessions.store,
    writes: sessions.writes,
    forgetting: sessions.forgettingOver([]),
    clock: sessions.clock,
    logger: silent,
    timeZone: 'UTC',
  });
  return durable;
}

/** A session in which the model stored two items from what Alice said. */
async function setUp() {
  const store = new RefusingStore();
  const sessions = openSessions(store);
  const durable = openDurable(sessions);
  const [{ id: messageId } = { id: '' }] = (await sessions.say('I prefer Rust, and I live in Oslo')).messages;
  for (const text of ['Prefers Rust', 'Lives in Oslo'])
    await durable.remember(work, { text, place: publicPlace, messageId, type: 'discord' });
  const texts = async () => (await durable.list(aliceId)).map(({ text }) => text).toSorted();
  return { ...sessions, store, durable, messageId, texts };
}

/** The lines of a log as they lie on disk. */
async function linesOf(store: MemoryStore, log: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const { record } of store.scan(log, z.unknown())) lines.push(JSON.stringify(record));
  return lines;
}

/** What is open. */
async function openIn(store: MemoryStore): Promise<readonly string[]> {
  const files = await store.list(changesFolder);
  const documents = await Promise.all(
    files.map(({ path }) => store.read(`${changesFolder}/${path}`, withheldKind)),
  );
  return documents
    .flatMap((document) => document?.records ?? [])
    .map((record) => JSON.stringify(record.change));
}

/** What Alice's log in #general holds. */
const logIn = async (store: MemoryStore): Promise<string> =>
  (await linesOf(store, `sessions/${generalId}/${aliceId}/messages.jsonl`)).join('\n');

const failing: MemoryLayer = {
  name: 'rolling',
  sections: () => Promise.resolve([]),
  delete: () => Promise.reject(new StoreError('full', 'rolling')),
  async *export() {},
};

describe('an edit or deletion [G5]', () => {
  it('rebuilds what was made of the message, and does nothing for one that is not remembered', async () => {
    const { store, ledgerOver, durable, messageId, changed, texts } = await setUp();
    const ledger = ledgerOver([durable]);
    await ledger.record({
      kind: 'edited',
      channelId: generalId,
      messageId: '400000000000000999',
      text: 'hello',
    });
    expect(changed).toEqual([]);
    expect(await openIn(store)).toEqual([]);
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    await ledger.record({ ...edit, text: 'Lives in Oslo' });
    expect(changed).toEqual([session]);
    expect(await texts()).toEqual(['Lives in Oslo']);
    expect(await openIn(store)).toEqual([]);
  });

  it('is known at once to everything that holds words in memory, before the disk has it', async () => {
    const { ledgerOver, recent, messageId } = await setUp();
    const heard: string[] = [];
    recent.subscribe(({ kind }) => heard.push(kind));
    const recording = ledgerOver([]).record({
      kind: 'deleted',
      channelId: generalId,
      messageIds: [messageId],
    });
    expect(heard).toEqual(['deleted']);
    expect(recent.wasDeleted(messageId)).toBe(true);
    await recording;
  });

  it('brings in no new words in a pause [K9], not even into the ledger: the message is taken out', async () => {
    const { store, ledgerOver, messageId, log } = await setUp();
    const paused = ledgerOver([failing], undefined, () => Promise.resolve(false));
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    await paused.record({ ...edit, text: 'I keep axolotls' });
    expect(await openIn(store)).toHaveLength(1);
    expect(await log.message(session, messageId)).toBeUndefined();
    expect(await logIn(store)).not.toContain('axolotls');
    expect((await openIn(store)).join('\n')).not.toContain('axolotls');
  });

  it('brings in no new words in a pause [K9] where nobody tells whose message it is, and takes no notice of others’ pauses', async () => {
    const { store, ledgerOver, messageId, log, contextOf } = await setUp();
    const bob = { id: bobId, name: 'Bob', isOwner: false };
    await log.recordUser({ ...contextOf(['hello']), ...unconditional(bobId), speaker: bob });
    const edit = { kind: 'edited', channelId: generalId, messageId } as const;
    const ofBob = ledgerOver([], undefined, async ({ userId }) => userId !== bobId);
    await ofBob.record({ ...edit, text: 'I keep bees' });
    expect(await log.message(session, messageId)).toBe('I keep bees');
    const paused = ledgerOver([failing], undefined, async ({ userId }) => userId !== aliceId);
    await paused.record({ ...edit, text: 'I keep axolotls' });
    expect(await openIn(store)).toHaveLength(1);
    expect(await log.message(session, messageId)).toBeUndefined();
    expect(await logIn(store)).not.toContain('axolotls');
    expect((await openIn(store)).join('\n')).not.toContain('axolotls');
  });

  it('brings in no words of an edit that was made in a pause, though that is over by now [K9]', async () => {
    const { store, ledgerOver, messageId, log } = await setUp();
    const editedAt = '2026-01-15T11:00:00.000Z';
    const resumed = ledgerOver([], undefined, async (_, at) => at !== editedAt);
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId, editedAt } as const;
    await resumed.record({ ...edit, text: 'I keep axolotls' });
    expect(await log.message(session, messageId)).toBeUndefined();
    expect(await logIn(store)).not.toContain('axolotls');
  });

  it('takes nothing out in a pause where the words are as they were [K9], as catching up tells of every message that was ever edited', async () => {
    const { store, ledgerOver, messageId, log } = await setUp();
    const paused = ledgerOver([failing], undefined, () => Promise.resolve(false));
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    await paused.record({ ...edit, text: 'I prefer Rust, and I live in Oslo' });
    expect(await log.message(session, messageId)).toBe('I prefer Rust, and I live in Oslo');
    expect(await openIn(store)).toEqual([]);
  });

  it.each([
    ['a public channel was made private', publicPlace, secretPlace],
    [
      'somebody was shut out of a private channel',
      secretPlace,
      { ...secretPlace, readers: secretPlace.readers?.slice(1) ?? [] },
    ],
    ['nothing is known of the channel by now', publicPlace, undefined],
  ])(
    'takes in no words for more people than could read them [V1], also after a restart: the message is taken out where %s',
    async (_, then, now) => {
      const { store, places, ledgerOver, say } = await setUp();
      const [{ id: messageId } = { id: '' }] = (await say('I keep bees', then)).messages;
      if (now === undefined) places.delete(generalId);
      else places.set(generalId, now);
      const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
      await ledgerOver([]).record({ ...edit, text: 'I keep bees' });
      expect(await logIn(store)).toContain('bees');
      store.logState = () => Promise.reject(new StoreError('unreadable', 'log'));
      await ledgerOver([]).record({ ...edit, text: 'I keep axolotls' });
      Reflect.deleteProperty(store, 'logState');
      const restarted = openSessions(store);
      restarted.places.set(generalId, publicPlace);
      await restarted.ledgerOver([]).finish();
      expect(await openIn(store)).toEqual([]);
      expect(await logIn(store)).not.toMatch(/bees|axolotls/u);
    },
  );

  it('is taken in where as many could read it as before, or more', async () => {
    const { places, ledgerOver, say, log } = await setUp();
    const [{ id: messageId } = { id: '' }] = (await say('I keep bees', secretPlace)).messages;
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    await ledgerOver([]).record({ ...edit, text: 'I keep wasps' });
    expect(await log.message(session, messageId)).toBe('I keep wasps');
    places.set(generalId, publicPlace);
    await ledgerOver([]).record({ ...edit, text: 'I keep axolotls' });
    expect(await log.logged(session, messageId)).toMatchObject({
      text: 'I keep axolotls',
      visibility: 'here',
    });
  });

  it('reaches the other layers where one fails, is used nowhere, and is finished after the next start', async () => {
    const { store, ledgerOver, durable, messageId, log, texts } = await setUp();
    const deletion = { kind: 'deleted', channelId: generalId, messageIds: [messageId] } as const;
    await ledgerOver([failing, durable]).record(deletion);
    expect(await texts()).toEqual([]);
    expect(await log.message(session, messageId)).toBeUndefined();
    // The words stay where the layer that failed can look them up.
    expect(await logIn(store)).toContain('Oslo');
    expect(await openIn(store)).toHaveLength(1);
    const restarted = openSessions(store);
    await restarted.ledgerOver([openDurable(restarted)]).finish();
    expect(await openIn(store)).toEqual([]);
    expect(await logIn(store)).not.toContain('Oslo');
  });

  it('stays withheld after a start too, while a layer cannot follow [F5]', async () => {
    const { store, ledgerOver, messageId } = await setUp();
    const deletion = { kind: 'deleted', channelId: generalId, messageIds: [messageId] } as const;
    await ledgerOver([failing]).record(deletion);
    const restarted = openSessions(store);
    await restarted.ledgerOver([failing]).finish();
    expect(await openIn(store)).toHaveLength(1);
    expect(await restarted.log.message(session, messageId)).toBeUndefined();
  });

  it('that the disk came between is carried out within a minute of its recovery, though the disk did not even take the record', async () => {
    const { store, timer, writes, ledgerOver, durable, messageId, log, texts } = await setUp();
    const ledger = ledgerOver([durable]);
    const deletion = { kind: 'deleted', channelId: generalId, messageIds: [messageId] } as const;
    store.append = () => Promise.reject(new StoreError('full', 'any'));
    store.update = () => Promise.reject(new StoreError('full', 'any'));
    await ledger.record(deletion);
    timer.pass(60_000);
    await vi.waitFor(() => expect(writes.size).toBe(0));
    expect(await logIn(store)).toContain('Oslo');
    Reflect.deleteProperty(store, 'append');
    Reflect.deleteProperty(store, 'update');
    timer.pass(60_000);
    await vi.waitFor(async () => expect(await logIn(store)).not.toContain('Oslo'));
    await vi.waitFor(async () => expect(await openIn(store)).toEqual([]));
    expect(await log.message(session, messageId)).toBeUndefined();
    expect(await texts()).toEqual([]);
  });

  it('that a kill interrupted is finished, edited or deleted, and an older one does not undo a newer', async () => {
    const { store, ledgerOver, durable, messageId, texts } = await setUp();
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    store.refusesRewrites = true;
    const ledger = ledgerOver([durable]);
    await ledger.record({ ...edit, text: 'I prefer Rust' });
    await ledger.record({ ...edit, text: 'I live in Oslo' });
    expect(await openIn(store)).toHaveLength(2);
    store.refusesRewrites = false;
    const restarted = openSessions(store);
    const again = openDurable(restarted);
    await restarted.ledgerOver([again]).finish();
    expect(await openIn(store)).toEqual([]);
    expect(await restarted.log.message(session, messageId)).toBe('I live in Oslo');
    expect(await logIn(store)).not.toContain('Rust');
    expect(await texts()).toEqual([]);
  });

  it('that a kill interrupted does not undo what came after the start', async () => {
    const { store, ledgerOver, messageId } = await setUp();
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    await ledgerOver([failing]).record({ ...edit, text: 'older' });
    const restarted = openSessions(store);
    const ledger = restarted.ledgerOver([]);
    await Promise.all([ledger.finish(), ledger.record({ ...edit, text: 'newest' })]);
    expect(await restarted.log.message(session, messageId)).toBe('newest');
    expect(await openIn(store)).toEqual([]);
  });

  it('reaches the other conversations where one cannot be read, and is finished after the next start', async () => {
    const { store, ledgerOver, log, messageId, contextOf } = await setUp();
    const speaker = { id: bobId, name: 'Bob', isOwner: false };
    const context = { ...contextOf(['a secret']), speaker, work: unconditional(bobId) };
    await log.recordUser(context);
    const [said = { id: '' }] = context.messages;
    const deletion = { kind: 'deleted', channelId: generalId, messageIds: [messageId, said.id] } as const;
    const logState = store.logState.bind(store);
    store.logState = (key) =>
      key.includes(aliceId) ? Promise.reject(new StoreError('unreadable', 'log')) : logState(key);
    await ledgerOver([]).record(deletion);
    store.logState = logState;
    expect(await log.message({ channelId: generalId, userId: bobId }, said.id)).toBeUndefined();
    expect(await openIn(store)).toHaveLength(1);
    const restarted = openSessions(store);
    await restarted.ledgerOver([]).finish();
    expect(await openIn(store)).toEqual([]);
    expect(await restarted.log.message(session, messageId)).toBeUndefined();
  });

  it('that is done takes earlier ones of the same message out of the ledger', async () => {
    const { store, ledgerOver, durable, messageId } = await setUp();
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    let isFailing = true;
    const once: MemoryLayer = {
      ...failing,
      delete: (...deletion) => (isFailing ? failing.delete(...deletion) : Promise.resolve()),
    };
    const ledger = ledgerOver([once, durable]);
    await ledger.record({ ...edit, text: 'a secret of the first edit' });
    isFailing = false;
    await ledger.record({ ...edit, text: 'I live in Oslo' });
    expect(await openIn(store)).toEqual([]);
  });

  it('drops a waiting answer that says in its text or its small lines what was taken out', async () => {
    const { ledgerOver, say } = await setUp();
    const [{ id: messageId } = { id: '' }] = (await say('I play the bassoon')).messages;
    const waiting = { messageIds: [messageId], text: 'Noted.' };
    const dropped: boolean[] = [];
    const deleteUnsent: AnswerKeeper['deleteUnsent'] = async (_, isWithdrawn) => {
      for (const line of ['Remembered: "I play the bassoon."', 'I am an AI'])
        dropped.push(isWithdrawn({ ...waiting, footer: { lines: [line] } }));
    };
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    await ledgerOver([], { ...noAnswers, deleteUnsent }).record({ ...edit, text: 'I play the drums' });
    expect(dropped).toEqual([true, false]);
  });

  it('that came while the log could not be read is finished after the next start', async () => {
    const { store, messageId } = await setUp();
    store.list = () => Promise.reject(new StoreError('unreadable', 'sessions'));
    await openSessions(store)
      .ledgerOver([])
      .record({ kind: 'deleted', channelId: generalId, messageIds: [messageId] });
    expect(await logIn(store)).toContain('Oslo');
    Reflect.deleteProperty(store, 'list');
    expect(await openIn(store)).toHaveLength(1);
    const restarted = openSessions(store);
    await restarted.ledgerOver([openDurable(restarted)]).finish();
    expect(await openIn(store)).toEqual([]);
    expect(await logIn(store)).not.toContain('Oslo');
  });

  it('that a newer one overtook takes out nothing that is said now, when both are finished after the next start', async () => {
    const { store, ledgerOver, say, answer } = await setUp();
    const context = await say('I play the bassoon');
    const [{ id: messageId } = { id: '' }] = context.messages;
    const edit = { kind: 'edited', channelId: generalId, messageId, authorId: aliceId } as const;
    const ledger = ledgerOver([failing]);
    await ledger.record({ ...edit, text: 'I play the clarinet' });
    await ledger.record({ ...edit, text: 'I play the drums' });
    const [answerId = ''] = await answer(context, 'Drums are fine.');
    const restarted = openSessions(store);
    await restarted.ledgerOver([]).finish();
    expect(await openIn(store)).toEqual([]);
    expect(await restarted.log.message(session, answerId)).toBe('Drums are fine.');
    expect(await logIn(store)).not.toMatch(/bassoon|clarinet/u);
  });

  it('of the first message of a conversation, which is being logged meanwhile, leaves nothing of it, after a kill too', async () => {
    const store = new RefusingStore();
    const { ledgerOver, contextOf, log } = openSessions(store);
    const context = contextOf(['a secret']);
    const ids = context.messages.map(({ id }) => id);
    const deletion = { kind: 'deleted', channelId: generalId, messageIds: ids } as const;
    store.refusesRewrites = true;
    await Promise.all([log.recordUser(context), ledgerOver([]).record(deletion)]);
    expect(await log.message(session, ids[0] ?? '')).toBeUndefined();
    store.refusesRewrites = false;
    await openSessions(store).ledgerOver([]).finish();
    expect(await logIn(store)).not.toContain('secret');
  });
});

describe('the question of an item [D1a]', () => {
  it('goes with the answer that asked it; what its owner said stays', async () => {
    const { store, say, answer, ledgerOver, durable, texts } = await setUp();
    const asking = await say('Robert left me');
    await answer(asking, 'Sorry. Does Robert live near you?');
    const replying = await say('Two streets away');
    await durable.remember(work, {
      text: 'Two streets away',
      question: 'Does Robert live near you?',
      place: publicPlace,
      messageId: replying.messages[0]?.id ?? '',
      type: 'summary',
    });
    const held = async () =>
      JSON.stringify(await store.read(`users/${aliceId}/durable.json`, durableDocumentKind));
    expect(await held()).toContain('Robert');
    const messageIds = asking.messages.map(({ id }) => id);
    await ledgerOver([durable]).record({ kind: 'deleted', channelId: generalId, messageIds });
    expect(await texts()).toContain('Two streets away');
    expect(await held()).not.toContain('Robert');
  });
});

describe('everything of a person erased [K11]', () => {
  it('keeps no deletion of what they say right afterwards from being followed [G5]', async () => {
    const { writes, say, changed, ledgerOver, durable, messageId: early, texts } = await setUp();
    const ledger = ledgerOver([durable]);
    const gate = deferred<void>();
    const remember = (of: Work, messageId: string, text: string) =>
      durable.remember(of, { text, place: publicPlace, messageId, type: 'discord' });
    const before = await writes.begin(aliceId);
    const late = gate.promise.then(() => remember(before, early, 'Prefers Ada'));
    await ledger.erase(aliceId, new Date().toISOString());
    const { messages } = await say('I prefer Perl, and I live in Rome');
    const messageId = messages[0]?.id ?? '';
    await remember(await writes.begin(aliceId), messageId, 'Prefers Perl');
    gate.resolve();
    await expect(late).rejects.toThrow(RefusedJobError);
    expect(await texts()).toContain('Prefers Perl');
    expect(await texts()).not.toContain('Prefers Ada');
    await ledger.record({ kind: 'deleted', channelId: generalId, messageIds: [messageId] });
    expect(await texts()).not.toContain('Prefers Perl');
    expect(changed).not.toEqual([]);
  });
});

describe('a matter that is erased [K11], or messages that are too old [K15]', () => {
  it.each([
    [
      'purge',
      (ledger: ChangeLedger) =>
        ledger.purge({ userId: aliceId, words: 'rust', commandId: '400000000000000900' }),
    ],
    ['expire', (ledger: ChangeLedger, messageId: string) => ledger.expire(session, [messageId])],
  ])('are gone within a minute of the recovery of a disk that came between: %s', async (_, change) => {
    const { store, timer, writes, ledgerOver, messageId } = await setUp();
    store.refusesRewritesOf = `sessions/${generalId}/${aliceId}/messages.jsonl`;
    await change(ledgerOver([]), messageId);
    timer.pass(60_000);
    await vi.waitFor(() => expect(writes.size).toBe(0));
    expect(await logIn(store)).toContain('Rust');
    store.refusesRewritesOf = undefined;
    timer.pass(60_000);
    await vi.waitFor(async () => expect(await openIn(store)).toEqual([]));
    expect(await logIn(store)).not.toContain('Rust');
  });

  it('takes what was on its way into the log, though a kill comes before its turn is over', async () => {
    const { store, ledgerOver, say, messageId } = await setUp();
    const ledger = ledgerOver([], undefined, undefined, { turnsOver: () => new Promise(() => {}) });
    const commandId = String(BigInt(messageId) + 1000n);
    await ledger.purge({ userId: aliceId, words: 'rust', commandId });
    expect(await logIn(store)).not.toContain('Rust');
    await say('Rust is old');
    expect(await logIn(store)).toContain('Rust is old');
    await openSessions(store).ledgerOver([]).finish();
    expect(await logIn(store)).not.toContain('Rust');
    expect(await openIn(store)).toEqual([]);
  });

  it('where a layer cannot follow, is finished after the next start, and nothing of what was said since goes', async () => {
    const { store, durable, ledgerOver, say, answer, messageId, texts } = await setUp();
    await answer(await say('Rust is old'), 'It is.');
    const commandId = String(BigInt(messageId) + 1000n);
    const ledger = ledgerOver([durable, failing]);
    expect((await ledger.purge({ userId: aliceId, words: 'rust', commandId })).failures.size).toBe(1);
    expect(await texts()).toEqual(['Lives in Oslo']);

    const later = openSessions(store);
    const after = (count: bigint): string => String(BigInt(commandId) + count);
    const context = later.contextOf(['Rust is new']);
    const again = {
      ...context,
      messages: context.messages.map((message) => ({ ...message, id: after(1n) })),
    };
    await later.log.recordUser(again);
    const at = later.clock().toISOString();
    await later.log.recordReply(again, { ids: [after(2n)], text: 'Rust it is.', at });
    await openDurable(later).remember(work, {
      text: 'Likes Rust again',
      place: publicPlace,
      messageId: after(3n),
      type: 'manual',
    });
    await later.ledgerOver([openDurable(later)]).finish();
    expect(await openIn(store)).toEqual([]);
    expect(await texts()).toEqual(['Likes Rust again', 'Lives in Oslo']);
    expect(await logIn(store)).toMatch(/Rust is new.*Rust it is/su);
    expect(await logIn(store)).not.toMatch(/prefer Rust|Rust is old|It is/u);
  });
});
