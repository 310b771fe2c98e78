import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';

import { RecentChanges } from '../../src/core/changes.ts';
import { dmPlace } from '../../src/core/place.ts';
import type { Shards } from '../../src/core/processes.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createWrites } from '../../src/core/writes.ts';
import { createChangeLedger } from '../../src/memory/changes.ts';
import { createSessions } from '../../src/memory/log/sessions.ts';
import { createErasures } from '../../src/memory/settings/erasures.ts';
import { createPersonSettings } from '../../src/memory/settings/person-settings.ts';
import {
  createOutbox,
  type Outbox,
  type PreparedReply,
  type UnfinishedReply,
  outboxInJobs,
  saveBestEffort,
} from '../../src/turn/outbox.ts';
import { createTemporaryStores } from '../storage/files/temporary-store.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { runs } from '../support/runs.ts';
import { silent, startTime } from '../support/sessions.ts';
import { SharedData } from '../support/shared-store.ts';

function prepared(messageIds: string[], text = 'an answer'): PreparedReply {
  return { messageIds, userId: aliceId, speakerName: 'Alice', place: publicPlace, text };
}

function unfinished(messageIds: string[], replyIds: string[]): UnfinishedReply {
  return { messageIds, userId: aliceId, speakerName: 'Alice', place: publicPlace, replyIds };
}

function id(number: number): string {
  return (400_000_000_000_000_000n + BigInt(number)).toString();
}

/** All that the outbox has on disk. */
async function onDisk(store: MemoryStore): Promise<string> {
  return JSON.stringify(await store.read(`channels/${generalId}/outbox.json`, anyDocument));
}

/** What a process would finish there. */
async function idsIn(outbox: Outbox): Promise<readonly string[]> {
  const begun = [...(await outbox.unfinished(generalId)), ...(await outbox.unsent(generalId))];
  return begun.flatMap(({ messageIds }) => messageIds);
}

const anyDocument = { version: 1, schema: z.looseObject({ version: z.number() }) };
const openStore = () => new MemoryStore();

describe('the outbox of a channel', () => {
  it('knows after a restart what was handled and what is hidden from history', async () => {
    const store = openStore();
    const outbox = createOutbox({ store, changes: new RecentChanges() });
    await outbox.markHandled(generalId, [id(1)]);
    await outbox.hide(generalId, [id(2)]);

    const restarted = createOutbox({ store, changes: new RecentChanges() });
    expect(await restarted.isHandled(generalId, id(1))).toBe(true);
    expect(await restarted.isHandled(generalId, id(2))).toBe(false);
    expect(await restarted.isHidden(generalId, id(2))).toBe(true);
    expect((await restarted.channels()).map((channel) => channel.id)).toEqual([generalId]);
  });

  it('hides the newest of more than it keeps, in whatever order they came [K11]', async () => {
    const outbox = createOutbox({ store: openStore(), changes: new RecentChanges() });
    const said = Array.from({ length: 600 }, (_, index) => id(600 - index));
    await outbox.hide(generalId, said);
    const isHidden = await outbox.hiddenIn(generalId);
    expect(said.filter(isHidden)).toEqual(said.slice(0, 500));
  });

  it('keeps no answer to a message that was forgotten meanwhile, but one to a command', async () => {
    const store = new MemoryStore();
    const outbox = createOutbox({ store, changes: new RecentChanges() });
    await outbox.hide(generalId, [id(1), id(2)]);
    await outbox.prepare(prepared([id(1)], 'You love bees.'));
    const command = { ...prepared([id(2)], 'Durable memory'), isCommand: true } as const;
    await outbox.prepare(command);
    expect(await outbox.unsent(generalId)).toEqual([command]);
    expect(await onDisk(store)).not.toContain('bees');
  });

  it('knows its server once it has answered there, also after all is confirmed [K15]', async () => {
    const outbox = createOutbox({ store: openStore(), changes: new RecentChanges() });
    await outbox.markHandled(generalId, [id(1)]);
    expect(await outbox.guildOf(generalId)).toEqual({ kind: 'unknown' });
    await outbox.prepare(prepared([id(2)]));
    await outbox.markHandled(generalId, [id(2)]);
    expect(await outbox.guildOf(generalId)).toEqual({ kind: 'guild', guildId: publicPlace.guildId });
  });

  it('holds no text of an answer once it was sent, nor does any other file [S7]', async () => {
    const stores = await createTemporaryStores();
    onTestFinished(() => stores.dispose());
    const store = await stores.open();
    const outbox = createOutbox({ store, changes: new RecentChanges() });
    await outbox.begin(unfinished([id(1)], []));
    await outbox.begin(unfinished([id(1)], [id(11)]));
    await outbox.prepare(prepared([id(1)], 'a secret answer'));
    await outbox.prepare(prepared([id(2)], 'an answer on its way'));
    await outbox.markHandled(generalId, [id(1)]);
    expect(stores.everything()).not.toContain('secret');
    const restarted = createOutbox({ store, changes: new RecentChanges() });
    expect(await restarted.isHandled(generalId, id(1))).toBe(true);
    expect(await restarted.unsent(generalId)).toEqual([prepared([id(2)], 'an answer on its way')]);
    // As soon as that one was sent too, its text goes.
    expect(stores.everything()).toContain('on its way');
    await outbox.markHandled(generalId, [id(2)]);
    expect(stores.everything()).not.toMatch(/on its way|Alice/u);
  });

  it('keeps no answer to what was taken back, sent or not, and the others', async () => {
    const store = openStore();
    const changes = new RecentChanges();
    const outbox = createOutbox({ store, changes });
    await outbox.prepare(prepared([id(1), id(2)], 'a secret answer'));
    await outbox.prepare(prepared([id(3)], 'another answer'));
    changes.note({ kind: 'deleted', channelId: generalId, messageIds: [id(2)] });
    await outbox.deleteUnsent(generalId, ({ messageIds }) => messageIds.includes(id(2)));
    // Nor one that was still being made.
    await outbox.prepare(prepared([id(2)], 'another secret answer'));
    expect(await onDisk(store)).not.toContain('secret');
    for (const each of [outbox, createOutbox({ store, changes: new RecentChanges() })])
      expect(await each.unsent(generalId)).toEqual([prepared([id(3)], 'another answer')]);
  });
});

describe('answers to messages that are past their time [K15]', () => {
  it('go from every channel, and no answer that is to a younger message as well', async () => {
    const store = openStore();
    const outbox = createOutbox({ store, changes: new RecentChanges() });
    const elsewhere = { ...publicPlace, channelId: '200000000000000007' };
    await outbox.prepare(prepared([id(1)], 'old'));
    await outbox.prepare({ ...prepared([id(2)], 'old too'), place: elsewhere });
    await outbox.prepare(prepared([id(3), id(6)], 'to both'));
    await outbox.prepare(prepared([id(7)], 'young'));
    expect(await outbox.dropPast((messageId) => messageId < id(5))).toBe(2);
    expect((await outbox.unsent(generalId)).map(({ text }) => text)).toEqual(['to both', 'young']);
    expect(await outbox.unsent(elsewhere.channelId)).toEqual([]);
    expect(await onDisk(store)).not.toContain('"old"');
  });
});

describe('the outbox of replies that grow', () => {
  it('knows after a restart what is posted of a reply, and hides it from history until its messages are handled', async () => {
    const store = openStore();
    const outbox = createOutbox({ store, changes: new RecentChanges() });
    await outbox.begin(unfinished([id(1)], []));
    await outbox.begin(unfinished([id(1)], [id(11)]));
    await outbox.begin(unfinished([id(2)], [id(12)]));
    await outbox.markHandled(generalId, [id(2)]);

    const restarted = createOutbox({ store, changes: new RecentChanges() });
    expect(await restarted.unfinished(generalId)).toEqual([unfinished([id(1)], [id(11)])]);
    expect(await restarted.isUnfinished(generalId, id(1))).toBe(true);
    expect(await restarted.isUnfinished(generalId, id(2))).toBe(false);
    expect(await restarted.isHidden(generalId, id(11))).toBe(true);
    expect(await restarted.isHidden(generalId, id(12))).toBe(false);
  });

  it('lets an answer to more messages go on with what stood there for one of them, and to fewer not', async () => {
    const outbox = createOutbox({ store: openStore(), changes: new RecentChanges() });
    await outbox.begin(unfinished([id(1), id(2)], [id(11)]));
    await outbox.begin(unfinished([id(1)], [id(12)]));
    expect(await outbox.unfinished(generalId)).toHaveLength(2);
    await outbox.begin(unfinished([id(2), id(3)], [id(11), id(13)]));
    expect((await outbox.unfinished(generalId)).map(({ replyIds }) => replyIds)).toEqual([
      [id(12)],
      [id(11), id(13)],
    ]);
  });
});

describe('what was begun by one of several processes [X3]', () => {
  const second = { count: 2, ids: [1] };
  const dm = { audience: 'dm', channelId: generalId, homeId: generalId } as const;
  const asked = { ...unfinished([id(1)], []), place: dm, isAsked: true } as const;

  it('is left to that one to finish: an `/ask` to who took it, all else to whose shard it is', async () => {
    const store = openStore();
    const outboxOf = (shards: Shards) => createOutbox({ store, changes: new RecentChanges(), shards });
    const here = outboxOf(second);
    const other = outboxOf({ count: 2, ids: [0] });
    await here.begin(asked);
    await here.prepare({ ...prepared([id(2)]), place: dm, isAsked: true });
    await other.begin({ ...unfinished([id(3)], [id(13)]), place: dm });
    await other.prepare({ ...prepared([id(4)]), place: dm });
    expect(await idsIn(outboxOf(second))).toEqual([id(1), id(2)]);
    expect(await idsIn(outboxOf({ count: 2, ids: [0] }))).toEqual([id(3), id(4)]);
    // With fewer shards since then, nothing is left to nobody.
    expect(await idsIn(outboxOf({ count: 1, ids: [0] }))).toEqual([id(1), id(3), id(2), id(4)]);
  });
});

describe('what a person has had erased', () => {
  it('goes where they asked it before, and nothing else [K11]', async () => {
    const store = openStore();
    const outbox = createOutbox({ store, changes: new RecentChanges() });
    const asked = snowflakeAt(new Date('2026-01-15T10:00:00Z'));
    const later = snowflakeAt(new Date('2026-01-15T10:10:00Z'));
    await outbox.prepare(prepared([asked], 'about axolotls'));
    await outbox.prepare({ ...prepared([id(1)], 'about bees'), userId: '100000000000000002' });
    await outbox.begin(unfinished([asked], ['910000000000000001']));
    await outbox.prepare(prepared([later], 'about cats'));
    const dropped = await outbox.erase(aliceId, '2026-01-15T10:05:00Z', [generalId]);
    expect(dropped.map(({ replyIds }) => replyIds)).toEqual([['910000000000000001']]);
    expect(await onDisk(store)).not.toContain('axolotls');
    expect(await onDisk(store)).not.toContain('91000000000000000');
    expect((await outbox.unsent(generalId)).map(({ text }) => text)).toEqual(['about bees', 'about cats']);
  });

  it('leaves no place with the person’s own id, which an `/ask` has while direct messages are closed [K11][EW2]', async () => {
    const store = openStore();
    const outbox = createOutbox({ store, changes: new RecentChanges() });
    const place = dmPlace(aliceId);
    await outbox.begin({ ...unfinished([id(1)], ['910000000000000001']), place, isAsked: true });
    await outbox.markHandled(aliceId, [id(2)]);
    expect(await outbox.erase(aliceId, new Date().toISOString(), [aliceId])).toEqual([]);
    expect(await outbox.channels()).toEqual([]);
  });
});

/** The process that has the channel, and another one, over one store. */
function sharing(pause?: () => number) {
  const data = new SharedData({ now: () => 0, pause });
  const open = () => {
    const process = data.open();
    return { process, outbox: createOutbox({ store: process.store, changes: new RecentChanges() }) };
  };
  return { own: open(), other: open(), open };
}

describe('a channel’s outbox that several processes write to', () => {
  it('knows what the database refused, stores it before what comes next, and lets nothing come back that is over', async () => {
    const { own, other, open } = sharing();
    own.process.refuses = (operation) => operation === 'update';
    await expect(own.outbox.hide(generalId, [id(2)])).rejects.toThrow('refused');
    expect(await own.outbox.isHidden(generalId, id(2))).toBe(true);
    own.process.refuses = undefined;
    await own.outbox.markHandled(generalId, [id(1)]);
    await other.outbox.hide(generalId, [id(3)]);

    for (const outbox of [own.outbox, other.outbox, open().outbox]) {
      expect(await Promise.all([2, 3].map((each) => outbox.isHidden(generalId, id(each))))).toEqual([
        true,
        true,
      ]);
    }
  });

  it('loses nothing that several processes write at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4), { minLength: 20, maxLength: 60 }), async (pauses) => {
        const { own, other, open } = sharing(() => pauses.shift() ?? 0);
        const ids = Array.from({ length: 10 }, (_, number) => id(number));
        await Promise.all([
          other.outbox.begin(unfinished([id(9000)], [id(9001)])),
          ...ids.map((each, at) => (at % 2 === 0 ? own : other).outbox.markHandled(generalId, [each])),
        ]);
        const { outbox } = open();
        expect(await Promise.all(ids.map((each) => outbox.isHandled(generalId, each)))).not.toContain(false);
        expect(await outbox.isUnfinished(generalId, id(9000))).toBe(true);
        expect(await own.outbox.isHidden(generalId, id(9001))).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });
});

const asked = snowflakeAt(new Date(startTime - 60_000));
const erasedAt = new Date(startTime).toISOString();
const work = { userId: aliceId };
const question = { ...work, work, speakerName: 'Alice', place: publicPlace, messageIds: [asked] };

const clock = () => new Date(startTime);

/** Two processes whose notices are lost: one answers, the other one erases. */
function twoProcesses(pause: () => number) {
  const data = new SharedData({ now: () => startTime, pause, arrives: () => false });
  function open() {
    const { store, shared } = data.open();
    const { locks } = shared.processes;
    const erasures = createErasures(store);
    const writes = createWrites({ locks, erasedAt: erasures.at, clock });
    const people = createPersonSettings({ store, writes, defaultMode: 'auto', clock, logger: silent });
    const sessions = createSessions(store);
    const recent = new RecentChanges();
    const outbox = outboxInJobs(createOutbox({ store, changes: recent }), {
      writes,
      begin: (session) => sessions.begin(session),
      people,
    });
    const ledger = createChangeLedger({
      store,
      recent,
      writes,
      log: {
        sessionsOf: () => Promise.resolve([]),
        affected: () => Promise.resolve([]),
        message: () => Promise.resolve(undefined),
        everyOfPerson: sessions.everyOfPerson,
        sessionsOfPerson: sessions.ofPerson,
        mentions: () => Promise.resolve([]),
        held: () => Promise.resolve([]),
      },
      layers: [],
      answers: outbox,
      mayStore: () => Promise.resolve(true),
      placeOf: () => Promise.resolve(undefined),
      changed: () => {},
      endWork: () => {},
      noteErased: erasures.note,
      processes: shared.processes,
      expireAt: () => Promise.resolve(),
      clock,
      logger: silent,
    });
    return { outbox, ledger, writes };
  }
  async function left(): Promise<string> {
    const outbox = createOutbox({ store: data.open().store, changes: new RecentChanges() });
    const replies = [...(await outbox.unsent(generalId)), ...(await outbox.unfinished(generalId))];
    const own = await data.common.list(`users/${aliceId}`);
    return [...replies.map((reply) => JSON.stringify(reply)), ...own.map(({ path }) => path)].join('\n');
  }
  return { answering: open(), erasing: open(), left };
}

describe('the outbox of a channel in which nothing else is held about a person', () => {
  it('holds nothing of them once another process erased them, at whatever moment [K11] [X2]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(3), { minLength: 60, maxLength: 60 }), async (pauses) => {
        const { answering, erasing, left } = twoProcesses(() => pauses.shift() ?? 0);
        const answer = async () => {
          const { outbox } = answering;
          await saveBestEffort(silent, 'a beginning', () => outbox.begin({ ...question, replyIds: ['1'] }));
          await saveBestEffort(silent, 'an answer', () => outbox.prepare({ ...question, text: 'Hello.' }));
        };
        const [failures] = await Promise.all([erasing.ledger.erase(aliceId, erasedAt), answer()]);
        expect([...failures.keys()]).toEqual([]);
        expect(await left()).toBe('');
      }),
      { numRuns: runs(100) },
    );
  });
});
