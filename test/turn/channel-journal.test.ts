import { describe, expect, it } from 'vitest';

import { createChannelJournal } from '../../src/turn/channel-journal.ts';
import type { PreparedReply } from '../../src/turn/channel-journal.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';

function prepared(messageIds: string[], text = 'an answer'): PreparedReply {
  return { messageIds, userId: aliceId, speakerName: 'Alice', place: publicPlace, text };
}

function id(number: number): string {
  return (400_000_000_000_000_000n + BigInt(number)).toString();
}

describe('the journal of a channel', () => {
  it('knows after a restart what was handled and what is no part of history', async () => {
    const store = new MemoryStore();
    const journal = createChannelJournal({ store });
    await journal.markHandled(generalId, [id(1)]);
    await journal.hide(generalId, [id(2)]);

    const restarted = createChannelJournal({ store });
    expect(await restarted.isHandled(generalId, id(1))).toBe(true);
    expect(await restarted.isHandled(generalId, id(2))).toBe(false);
    expect(await restarted.isHidden(generalId, id(2))).toBe(true);
    expect(await restarted.channels()).toEqual([generalId]);
  });

  it('keeps an answer until its messages were handled', async () => {
    const store = new MemoryStore();
    const journal = createChannelJournal({ store });
    await journal.prepare(prepared([id(1), id(2)]));
    await journal.prepare(prepared([id(3)], 'another'));
    await journal.markHandled(generalId, [id(1), id(2)]);

    const restarted = createChannelJournal({ store });
    expect(await restarted.unsent(generalId)).toEqual([prepared([id(3)], 'another')]);
  });

  it('stays small however long the channel lives, and forgets neither the newest ids nor an unsent answer', async () => {
    const store = new MemoryStore();
    const journal = createChannelJournal({ store });
    await journal.prepare(prepared([id(0)]));
    for (let number = 1; number <= 2500; number += 1) await journal.markHandled(generalId, [id(number)]);

    let lines = 0;
    for (const { path, bytes } of await store.list('channels'))
      if (path.startsWith(generalId)) lines += bytes;
    expect(lines).toBeLessThan(100_000);
    const restarted = createChannelJournal({ store });
    expect(await restarted.isHandled(generalId, id(2500))).toBe(true);
    expect(await restarted.isHandled(generalId, id(2100))).toBe(true);
    expect(await restarted.unsent(generalId)).toHaveLength(1);
  });
});
