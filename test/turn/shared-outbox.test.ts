import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';

import { RecentChanges } from '../../src/core/changes.ts';
import { createOutbox, type PreparedReply, type UnfinishedReply } from '../../src/turn/outbox.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { SharedData } from '../support/shared-store.ts';
import { runs } from '../support/runs.ts';

const question = { userId: aliceId, speakerName: 'Alice', place: publicPlace };

function prepared(messageId: string, text: string): PreparedReply {
  return { ...question, messageIds: [messageId], text };
}

function unfinished(messageId: string, replyIds: string[]): UnfinishedReply {
  return { ...question, messageIds: [messageId], replyIds };
}

function id(number: number): string {
  return (400_000_000_000_000_000n + BigInt(number)).toString();
}

/** The process that has the channel, and another one, over one store. */
function twoProcesses(pause?: () => number) {
  const timer = new ManualTimer();
  const data = new SharedData({ now: () => 0, pause });
  const open = () => {
    const process = data.open();
    const { store } = process;
    return {
      process,
      outbox: createOutbox({ store, changes: new RecentChanges(), timer: timer.set }),
    };
  };
  async function text(): Promise<string> {
    const kind = { version: 1, schema: z.looseObject({ version: z.number() }) };
    return JSON.stringify(await data.common.read(`channels/${generalId}/outbox.json`, kind));
  }
  return { own: open(), other: open(), open, text, timer };
}

describe('a channel’s outbox that several processes write to', () => {
  it('holds no answer that was on its way when another process withdrew something, once it was sent [G5] [S7]', async () => {
    const { own, other, text } = twoProcesses();
    await own.outbox.prepare(prepared(id(1), 'which retells it'));
    await other.outbox.deleteUnsent(generalId, () => false);
    expect(await text()).toContain('retells');
    await own.outbox.markHandled(generalId, [id(1)]);
    expect(await text()).not.toContain('retells');
    expect(await own.outbox.isHandled(generalId, id(1))).toBe(true);
  });

  it('knows what the database refused, stores it before what comes next, and lets nothing come back that is over', async () => {
    const { own, other, open } = twoProcesses();
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

  it('notices what another process took out just before it writes itself', async () => {
    const { own, other } = twoProcesses();
    await own.outbox.prepare(prepared(id(1), 'one'));
    await own.outbox.prepare(prepared(id(2), 'another'));
    let isFirst = true;
    own.process.refuses = async (operation) => {
      if (operation !== 'update' || !isFirst) return false;
      isFirst = false;
      await other.outbox.deleteUnsent(generalId, ({ messageIds }) => messageIds.includes(id(2)));
      return false;
    };
    await own.outbox.markHandled(generalId, [id(1)]);
    expect(await own.outbox.unsent(generalId)).toEqual([]);
  });

  it('loses nothing that several processes write at the same time', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(4), { minLength: 20, maxLength: 60 }), async (pauses) => {
        const { own, other, open } = twoProcesses(() => pauses.shift() ?? 0);
        const ids = Array.from({ length: 10 }, (_, number) => id(number));
        await Promise.all([
          other.outbox.begin(unfinished(id(9000), [id(9001)])),
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
