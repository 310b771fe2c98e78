import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { RecentChanges } from '../../src/core/changes.ts';
import { snowflakeAt } from '../../src/core/snowflake.ts';
import { createChannelJournal } from '../../src/turn/journal.ts';
import type { BegunReply, PreparedReply } from '../../src/turn/journal-state.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { SharedData } from '../support/shared-store.ts';
import { runs } from '../support/runs.ts';

const question = { userId: aliceId, speakerName: 'Alice', place: publicPlace };

function prepared(messageId: string, text: string): PreparedReply {
  return { ...question, messageIds: [messageId], text };
}

function begun(messageId: string, replyIds: string[]): BegunReply {
  return { ...question, messageIds: [messageId], replyIds };
}

function id(number: number): string {
  return (400_000_000_000_000_000n + BigInt(number)).toString();
}

/** The process that has the channel, and another one, over one store. */
function twoProcesses(pause?: () => number) {
  const data = new SharedData({ now: () => 0, ...(pause === undefined ? {} : { pause }) });
  const open = () => {
    const process = data.open();
    return { process, journal: createChannelJournal({ store: process.store, changes: new RecentChanges() }) };
  };
  async function lines(): Promise<string> {
    const found: string[] = [];
    for await (const { record } of data.common.scan(`channels/${generalId}/journal.jsonl`, z.unknown()))
      found.push(JSON.stringify(record));
    return found.join('\n');
  }
  return { own: open(), other: open(), open, lines };
}

describe('a channel’s journal that several processes write to', () => {
  it('holds no answer that was on its way when another process withdrew something, once it was sent [G5] [S7]', async () => {
    const { own, other, lines } = twoProcesses();
    await own.journal.prepare(prepared(id(1), 'which retells it'));
    await other.journal.withdraw(generalId, () => false);
    expect(await lines()).toContain('retells');
    await own.journal.markHandled(generalId, [id(1)]);
    expect(await lines()).not.toContain('retells');
    expect(await own.journal.isHandled(generalId, id(1))).toBe(true);
  });

  it('holds none either when both happen at the same time [G5] [S7]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4), { minLength: 20, maxLength: 20 }), async (pauses) => {
        const { own, other, lines } = twoProcesses(() => pauses.shift() ?? 0);
        await own.journal.prepare(prepared(id(1), 'which retells it'));
        await Promise.all([
          own.journal.markHandled(generalId, [id(1)]),
          other.journal.withdraw(generalId, () => false),
        ]);
        expect(await lines()).not.toContain('retells');
        expect(await other.journal.isHandled(generalId, id(1))).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });

  it('knows what the database refused, stores it before what comes next, and lets nothing come back that is over', async () => {
    const { own, other, open } = twoProcesses();
    own.process.refuses = (operation) => operation === 'append';
    await expect(own.journal.begin(begun(id(1), [id(11)]))).rejects.toThrow('refused');
    await expect(own.journal.hide(generalId, [id(2)])).rejects.toThrow('refused');
    expect(await own.journal.isHidden(generalId, id(11))).toBe(true);
    own.process.refuses = undefined;
    await own.journal.markHandled(generalId, [id(1)]);
    await own.journal.unhide(generalId, [id(2)]);
    await other.journal.hide(generalId, [id(3)]);

    for (const journal of [own.journal, other.journal, open().journal]) {
      expect(await journal.isUnfinished(generalId, id(1))).toBe(false);
      expect(await Promise.all([11, 2, 3].map((each) => journal.isHidden(generalId, id(each))))).toEqual([
        false,
        false,
        true,
      ]);
    }
  });

  it('stores later what it could not even look at the journal for', async () => {
    const { own, open } = twoProcesses();
    own.process.refuses = () => true;
    await expect(own.journal.markHandled(generalId, [id(1)])).rejects.toThrow('refused');
    own.process.refuses = undefined;
    expect(await own.journal.isHandled(generalId, id(1))).toBe(true);
    expect(await open().journal.isHandled(generalId, id(1))).toBe(true);
  });

  it('keeps no answer that the database refused, and no beginning of somebody who had everything erased since [K11]', async () => {
    const { own, lines } = twoProcesses();
    const asked = snowflakeAt(new Date('2026-01-15T10:00:00Z'));
    own.process.refuses = (operation) => operation === 'append';
    await expect(own.journal.prepare(prepared(asked, 'about axolotls'))).rejects.toThrow('refused');
    await expect(own.journal.begin(begun(asked, [id(11)]))).rejects.toThrow('refused');
    own.process.refuses = undefined;
    own.journal.noteErased(aliceId, '2026-01-15T10:05:00Z');
    await own.journal.hide(generalId, [id(3)]);
    expect(await lines()).not.toMatch(/axolotls|Alice/u);
    expect(await own.journal.unsent(generalId)).toEqual([]);
    expect(await own.journal.begun(generalId)).toEqual([]);
  });

  it('is read once, however many commands take their answers out of it, until somebody else writes', async () => {
    const { own, other } = twoProcesses();
    let reads = 0;
    own.process.refuses = (operation) => {
      if (operation === 'scan') reads += 1;
      return false;
    };
    for (const each of [1, 2, 3]) {
      await own.journal.prepare({ ...prepared(id(each), 'an answer'), isCommand: true });
      await own.journal.markHandled(generalId, [id(each)]);
      await own.journal.eraseSentTexts(generalId);
    }
    expect(reads).toBe(1);
    await other.journal.hide(generalId, [id(9)]);
    expect(await own.journal.isHidden(generalId, id(9))).toBe(true);
    expect(reads).toBe(2);
  });

  it('notices what another process took out just before it made the file smaller itself', async () => {
    const { own, other } = twoProcesses();
    await own.journal.prepare(prepared(id(1), 'one'));
    await own.journal.prepare(prepared(id(2), 'another'));
    await own.journal.eraseSentTexts(generalId);
    let isFirst = true;
    own.process.refuses = async (operation) => {
      if (operation !== 'rewrite' || !isFirst) return false;
      isFirst = false;
      await other.journal.withdraw(generalId, ({ messageIds }) => messageIds.includes(id(2)));
      return false;
    };
    await own.journal.markHandled(generalId, [id(1)]);
    expect(await own.journal.unsent(generalId)).toEqual([]);
  });

  it('loses nothing that another process writes while the file is made smaller', async () => {
    const { own, other, open } = twoProcesses();
    for (let number = 1; number <= 2000; number += 1) await own.journal.markHandled(generalId, [id(number)]);
    own.process.refuses = async (operation) => {
      if (operation === 'rewrite') await other.journal.begin(begun(id(9000), [id(9001)]));
      return false;
    };
    await own.journal.markHandled(generalId, [id(2001)]);
    const { journal } = open();
    expect(await journal.isUnfinished(generalId, id(9000))).toBe(true);
    expect(await journal.isHandled(generalId, id(2001))).toBe(true);
    expect(await own.journal.isHidden(generalId, id(9001))).toBe(true);
  });

  it('tells every process that the channel is gone', async () => {
    const { own, other } = twoProcesses();
    expect(await other.journal.isGone(generalId)).toBe(false);
    await own.journal.markGone(generalId);
    expect(await other.journal.isGone(generalId)).toBe(true);
  });
});
