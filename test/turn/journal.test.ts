import { setImmediate as nextTurn } from 'node:timers/promises';

import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';

import { RecentChanges } from '../../src/core/changes.ts';
import { StoreError } from '../../src/core/errors.ts';
import type { LogEntry } from '../../src/core/store.ts';
import { createChannelJournal } from '../../src/turn/journal.ts';
import { recordSchema, type BegunReply, type PreparedReply } from '../../src/turn/journal-state.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';

function prepared(messageIds: string[], text = 'an answer'): PreparedReply {
  return { messageIds, userId: aliceId, speakerName: 'Alice', place: publicPlace, text };
}

function begun(messageIds: string[], replyIds: string[]): BegunReply {
  return { messageIds, userId: aliceId, speakerName: 'Alice', place: publicPlace, replyIds };
}

function id(number: number): string {
  return (400_000_000_000_000_000n + BigInt(number)).toString();
}

async function rawJournal(store: MemoryStore): Promise<string> {
  const lines: string[] = [];
  for await (const { record } of store.scan(`channels/${generalId}/journal.jsonl`, z.unknown()))
    lines.push(JSON.stringify(record));
  return lines.join();
}

/** A store in which, once, something else is written between two records that belong together. */
class InterruptedStore extends MemoryStore {
  meanwhile: (() => Promise<void>) | undefined;

  override async append(log: string, record: object): Promise<number> {
    const sequence = await super.append(log, record);
    const { meanwhile } = this;
    const isFirstOfTwo =
      'messageIds' in record && Array.isArray(record.messageIds) && record.messageIds.length > 1;
    if (meanwhile !== undefined && isFirstOfTwo) {
      this.meanwhile = undefined;
      await meanwhile();
    }
    return sequence;
  }
}

/** A store whose log's lock is held for a moment after a rewrite has read the log, as on a slow disk; what is appended waits behind it. */
class SlowRewriteStore extends MemoryStore {
  #rewriting: Promise<unknown> = Promise.resolve();
  /** What happens meanwhile. */
  meanwhile: (() => Promise<void>) | undefined;

  override async append(log: string, record: object): Promise<number> {
    await this.#rewriting;
    return super.append(log, record);
  }

  override rewrite<T>(log: string, schema: z.ZodType<T>, change: (entry: LogEntry<T>) => T | undefined) {
    const { meanwhile } = this;
    this.meanwhile = undefined;
    const rewriting = super.rewrite(log, schema, change).then(async (rewritten) => {
      void meanwhile?.();
      await new Promise(setImmediate);
      return rewritten;
    });
    this.#rewriting = rewriting;
    return rewriting;
  }
}

const openStore = () => new InterruptedStore();

describe('the journal of a channel', () => {
  it('knows after a restart what was handled and what is hidden from history', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.markHandled(generalId, [id(1)]);
    await journal.hide(generalId, [id(2)]);

    const restarted = createChannelJournal({ store, changes: new RecentChanges() });
    expect(await restarted.isHandled(generalId, id(1))).toBe(true);
    expect(await restarted.isHandled(generalId, id(2))).toBe(false);
    expect(await restarted.isHidden(generalId, id(2))).toBe(true);
    expect((await restarted.channels()).map((channel) => channel.id)).toEqual([generalId]);
  });

  it('keeps an answer until its messages were handled', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.prepare(prepared([id(1), id(2)]));
    await journal.prepare(prepared([id(3)], 'another'));
    await journal.markHandled(generalId, [id(1), id(2)]);

    const restarted = createChannelJournal({ store, changes: new RecentChanges() });
    expect(await restarted.unsent(generalId)).toEqual([prepared([id(3)], 'another')]);
  });

  it('stays small however long the channel lives, and forgets neither the newest ids nor an unsent answer', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.prepare(prepared([id(0)]));
    for (let number = 1; number <= 2500; number += 1) await journal.markHandled(generalId, [id(number)]);

    let lines = 0;
    for (const { path, bytes } of await store.list('channels'))
      if (path.startsWith(generalId)) lines += bytes;
    expect(lines).toBeLessThan(100_000);
    const restarted = createChannelJournal({ store, changes: new RecentChanges() });
    expect(await restarted.isHandled(generalId, id(2500))).toBe(true);
    expect(await restarted.isHandled(generalId, id(2100))).toBe(true);
    expect(await restarted.unsent(generalId)).toHaveLength(1);
  });

  it('is made smaller once, however many write at the same time', async () => {
    const store = openStore();
    const rewrite = vi.spyOn(store, 'rewrite');
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    const all = Array.from({ length: 2300 }, (_, number) => id(number));
    await Promise.all(all.map((each) => journal.markHandled(generalId, [each])));
    expect(rewrite).toHaveBeenCalledTimes(1);
    expect(await journal.isHandled(generalId, id(2299))).toBe(true);
  });

  it('loses nothing that another turn writes while the file is made smaller', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    for (let number = 1; number <= 2000; number += 1) await journal.markHandled(generalId, [id(number)]);
    store.meanwhile = () => journal.markHandled(generalId, [id(3000)]);
    await journal.markHandled(generalId, [id(2001)]);
    expect(store.meanwhile).toBeUndefined();

    const restarted = createChannelJournal({ store, changes: new RecentChanges() });
    for (const number of [1900, 2000, 2001, 3000])
      expect(await restarted.isHandled(generalId, id(number))).toBe(true);
  });

  it('keeps no answer to a message that was forgotten meanwhile, but one to a command', async () => {
    const store = new MemoryStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.hide(generalId, [id(1), id(2)]);
    await journal.prepare(prepared([id(1)], 'You love bees.'));
    const command = { ...prepared([id(2)], 'Durable memory'), isCommand: true } as const;
    await journal.prepare(command);
    expect(await journal.unsent(generalId)).toEqual([command]);
    expect(await rawJournal(store)).not.toContain('bees');
  });

  it('keeps no answer whose messages got another one, together with others', async () => {
    const journal = createChannelJournal({ store: openStore(), changes: new RecentChanges() });
    await journal.prepare(prepared([id(1)]));
    await journal.prepare(prepared([id(1), id(2)], 'asked again'));
    await journal.markHandled(generalId, [id(1), id(2)]);
    expect(await journal.unsent(generalId)).toEqual([]);
  });

  it('holds no text of answers that were sent once it is told to drop them, only of those that were not', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.prepare(prepared([id(1)], 'a secret answer'));
    await journal.markHandled(generalId, [id(1)]);
    await journal.prepare(prepared([id(2)], 'an answer on its way'));
    await journal.eraseSentTexts(generalId);

    expect(await rawJournal(store)).not.toContain('secret');
    const restarted = createChannelJournal({ store, changes: new RecentChanges() });
    expect(await restarted.isHandled(generalId, id(1))).toBe(true);
    expect(await restarted.unsent(generalId)).toEqual([prepared([id(2)], 'an answer on its way')]);
    // As soon as that one was sent too, its text goes.
    expect(await rawJournal(store)).toContain('on its way');
    await journal.markHandled(generalId, [id(2)]);
    expect(await rawJournal(store)).not.toContain('on its way');
  });

  it('holds no text of an answer that is sent while texts are being dropped', async () => {
    const store = new SlowRewriteStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.prepare(prepared([id(1)], 'a secret answer'));
    await journal.markHandled(generalId, [id(1)]);
    await journal.prepare(prepared([id(2)], 'an answer on its way'));
    let handled: Promise<void> | undefined;
    store.meanwhile = () => (handled = journal.markHandled(generalId, [id(2)]));
    await journal.eraseSentTexts(generalId);
    expect(handled).toBeDefined();
    await handled;
    expect(await rawJournal(store)).not.toContain('answer');
  });

  it('keeps no answer to what was taken back, sent or not, and the others', async () => {
    const store = openStore();
    const changes = new RecentChanges();
    const journal = createChannelJournal({ store, changes });
    await journal.prepare(prepared([id(1), id(2)], 'a secret answer'));
    await journal.prepare(prepared([id(3)], 'another answer'));
    changes.note({ kind: 'deleted', channelId: generalId, messageIds: [id(2)] });
    await journal.withdraw(generalId, ({ messageIds }) => messageIds.includes(id(2)));
    // Nor one that was still being made.
    await journal.prepare(prepared([id(2)], 'another secret answer'));
    expect(await rawJournal(store)).not.toContain('secret');
    for (const each of [journal, createChannelJournal({ store, changes: new RecentChanges() })])
      expect(await each.unsent(generalId)).toEqual([prepared([id(3)], 'another answer')]);
  });

  it('stores by itself what the disk refused, once it takes it, though nothing else happens in the channel', async () => {
    const store = openStore();
    const timer = new ManualTimer();
    const changes = new RecentChanges();
    const journal = createChannelJournal({ store, changes, timer: timer.set });
    const refusing = vi.spyOn(store, 'append').mockRejectedValue(new StoreError('full', 'x'));
    await expect(journal.markHandled(generalId, [id(1)])).rejects.toThrow('full');
    for (const _ of [1, 2]) {
      timer.pass(5000);
      await nextTurn();
    }
    refusing.mockRestore();
    timer.pass(5000);
    await nextTurn();
    expect(await createChannelJournal({ store, changes }).isHandled(generalId, id(1))).toBe(true);
  });

  it('erases an answer that is withdrawn again, after the disk refused it once', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.prepare(prepared([id(1)], 'a secret answer'));
    vi.spyOn(store, 'rewrite').mockImplementationOnce(async (log, schema, change) => {
      for await (const entry of store.scan(log, schema)) change(entry);
      throw new StoreError('no space left', log);
    });
    const withdraw = (): Promise<void> => journal.withdraw(generalId, () => true);
    await expect(withdraw()).rejects.toThrow('no space left');
    await withdraw();
    expect(await rawJournal(store)).not.toContain('secret');
  });
});

describe('the journal of replies that grow', () => {
  it('knows after a restart what is posted of a reply, and hides it from history until its messages are handled', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.begin(begun([id(1)], []));
    await journal.begin(begun([id(1)], [id(11)]));
    await journal.begin(begun([id(2)], [id(12)]));
    await journal.markHandled(generalId, [id(2)]);

    const restarted = createChannelJournal({ store, changes: new RecentChanges() });
    expect(await restarted.begun(generalId)).toEqual([begun([id(1)], [id(11)])]);
    expect(await restarted.isUnfinished(generalId, id(1))).toBe(true);
    expect(await restarted.isUnfinished(generalId, id(2))).toBe(false);
    expect(await restarted.isHidden(generalId, id(11))).toBe(true);
    expect(await restarted.isHidden(generalId, id(12))).toBe(false);
  });

  it('lets an answer to more messages go on with what stood there for one of them, and to fewer not', async () => {
    const journal = createChannelJournal({ store: openStore(), changes: new RecentChanges() });
    await journal.begin(begun([id(1), id(2)], [id(11)]));
    await journal.begin(begun([id(1)], [id(12)]));
    expect(await journal.begun(generalId)).toHaveLength(2);
    await journal.begin(begun([id(2), id(3)], [id(11), id(13)]));
    expect((await journal.begun(generalId)).map(({ replyIds }) => replyIds)).toEqual([
      [id(12)],
      [id(11), id(13)],
    ]);
  });

  it('keeps them when it is made smaller, and each only as it stands now', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    await journal.begin(begun([id(1)], [id(11)]));
    await journal.begin(begun([id(1)], [id(11), id(12)]));
    await journal.prepare(prepared([id(2)]));
    await journal.markGone(generalId);
    await journal.markHandled(generalId, [id(2)]);
    await journal.eraseSentTexts(generalId);

    const kinds: string[] = [];
    for await (const { record } of store.scan(`channels/${generalId}/journal.jsonl`, recordSchema))
      kinds.push(record.kind);
    expect(new Set(kinds)).toEqual(new Set(['begun', 'gone', 'handled']));
    expect(kinds).toHaveLength(3);
    const restarted = createChannelJournal({ store, changes: new RecentChanges() });
    expect(await restarted.begun(generalId)).toEqual([begun([id(1)], [id(11), id(12)])]);
    expect(await restarted.isGone(generalId)).toBe(true);
  });
});

describe('what a person has had erased', () => {
  it('keeps nothing of what a person asked before they had everything erased, and takes none of it later [K11]', async () => {
    const store = openStore();
    const journal = createChannelJournal({ store, changes: new RecentChanges() });
    const asked = snowflakeAt(new Date('2026-01-15T10:00:00Z'));
    const later = snowflakeAt(new Date('2026-01-15T10:10:00Z'));
    await journal.prepare(prepared([asked], 'about axolotls'));
    await journal.prepare({ ...prepared([id(1)], 'about bees'), userId: '100000000000000002' });
    await journal.begin(begun([asked], ['910000000000000001']));
    const dropped = await journal.erase(aliceId, '2026-01-15T10:05:00Z', [generalId]);
    expect(dropped.map(({ replyIds }) => replyIds)).toEqual([['910000000000000001']]);
    await journal.prepare(prepared([asked], 'about axolotls, late'));
    await journal.begin(begun([asked], ['910000000000000002']));
    await journal.prepare(prepared([later], 'about cats'));
    const records: string[] = [];
    for await (const { record } of store.scan(`channels/${generalId}/journal.jsonl`, z.unknown()))
      records.push(JSON.stringify(record));
    expect(records.join()).not.toContain('axolotls');
    expect(records.join()).not.toContain('91000000000000000');
    expect((await journal.unsent(generalId)).map(({ text }) => text)).toEqual(['about bees', 'about cats']);
  });
});
