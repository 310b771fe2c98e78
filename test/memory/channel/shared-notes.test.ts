import { describe, expect, it } from 'vitest';

import { RecentChanges } from '../../../src/core/changes.ts';
import { plainWrites } from '../../support/plain-writes.ts';
import { everyone, type Place } from '../../../src/core/place.ts';
import { renderSection } from '../../../src/core/section.ts';
import { noNotes, notesKey, notesKind } from '../../../src/memory/channel/document.ts';
import { FakeChannels, notesOver } from '../../support/channel-notes.ts';
import { deferred } from '../../support/deferred.ts';
import { eventually } from '../../support/eventually.ts';
import { aliceId, bobId } from '../../support/incoming.ts';
import { dmPlace, openSessions, messageId, startTime } from '../../support/sessions.ts';
import { SharedData } from '../../support/shared-store.ts';

const guilds = ['300000000000000001', '300000000000000002'] as const;

function channelIn(guildId: string, channelId: string): Place {
  return {
    audience: 'public',
    channelId,
    homeId: channelId,
    guildId,
    channelName: 'talk',
    readers: [everyone],
  };
}

const places = [
  channelIn(guilds[0], '200000000000000001'),
  channelIn(guilds[1], '200000000000000002'),
] as const;

/** The process with the direct messages, and the one that takes notes; Alice has talked in some of the servers. */
function twoProcesses(talkedIn: readonly string[]) {
  const data = new SharedData({ now: () => startTime });
  const open = () => {
    const process = data.open();
    const notes = notesOver(process.store, {
      writes: plainWrites(),
      channels: new FakeChannels(...places),
      recent: new RecentChanges(),
      guildsOf: (userId) => Promise.resolve(userId === aliceId ? talkedIn : []),
    });
    return { process, notes };
  };
  const [direct, taking] = [open(), open()];
  let count = 0;
  async function keep(text: string, { guildId = '', channelId }: Place, authorId = bobId): Promise<string> {
    count += 1;
    const said = { authorId, author: 'Bob', text, messageId: messageId(1000 + count), at: atNow };
    await taking.notes.keep({ guildId, channelId }, said, () => Promise.resolve(true));
    return said.messageId;
  }
  const { contextOf } = openSessions();
  const shown = async (text: string): Promise<string> =>
    (await direct.notes.sections(contextOf([text], dmPlace))).map(renderSection).join('');
  return { data, direct, taking, keep, shown };
}

const atNow = new Date(startTime).toISOString();

describe('channel notes that another process takes [B2] [X2]', () => {
  it('are shown in direct messages, and may be told, as soon as they are there', async () => {
    const { direct, keep, shown } = twoProcesses([guilds[0]]);
    await keep('The walrus ships on Friday', places[0]);
    expect(await shown('when does the walrus ship?')).toContain('Friday');
    const id = await keep('The penguin ships on Monday', places[0]);
    expect(await shown('when does the penguin ship?')).toContain('Monday');
    const { guildId = '', channelId } = places[0];
    const source = { kind: 'note' as const, guildId, channelId, messageId: id };
    expect(await direct.notes.canDisclose([source], dmPlace, aliceId)).toBe(true);
  });

  it('are looked for in the servers alone in which the asker has talked or is noted, where there are very many', async () => {
    const { data, direct, keep, shown } = twoProcesses([guilds[0]]);
    await keep('The walrus ships on Friday', places[0]);
    await keep('The walrus eats on Sunday', places[1]);
    for (let index = 0; index < 500; index += 1) {
      const place = {
        guildId: guilds[1],
        channelId: String(BigInt(places[1].channelId) + 1n + BigInt(index)),
      };
      await data.common.update(notesKey(place), notesKind, () => noNotes(place));
    }
    // Which there are in all it looks for once.
    expect(await shown('what does the walrus do?')).toContain('Friday');
    const asked: string[] = [];
    direct.process.refuses = (operation, key) => {
      if (operation === 'read' || operation === 'list') asked.push(key);
      return false;
    };
    const found = await shown('what does the walrus do?');
    expect(found).toContain('Friday');
    expect(found).not.toContain('Sunday');
    expect(asked.filter((key) => key === 'guilds' || key.includes(guilds[1]))).toEqual([]);
    await keep('I like the walrus', places[1], aliceId);
    expect(await shown('what does the walrus do?')).toContain('Sunday');
  });

  it('are looked for in all servers, where there are not very many', async () => {
    const { keep, shown } = twoProcesses([]);
    await keep('The walrus eats on Sunday', places[1]);
    expect(await shown('what does the walrus do?')).toContain('Sunday');
  });

  it('go when they are too old, whichever process looks [K15]', async () => {
    const { data, direct, keep } = twoProcesses([]);
    await keep('The walrus ships on Friday', places[0]);
    expect(await direct.notes.expire(() => true)).toBe(1);
    await keep('The penguin ships on Monday', places[1]);
    expect(await direct.notes.expire(() => true)).toBe(1);
    expect(await data.common.everything()).not.toMatch(/walrus|penguin/u);
  });

  it('are looked through for people who have paused at each start, by one process of those that start together [K9]', async () => {
    const { data, keep } = twoProcesses([]);
    await keep('The walrus ships on Friday', places[0]);
    const looked: string[] = [];
    const gate = deferred<void>();
    async function start(name: string) {
      const process = data.open();
      const notes = notesOver(process.store, {
        writes: plainWrites(),
        channels: new FakeChannels(...places),
        recent: new RecentChanges(),
        people: {
          mayStore: () => Promise.resolve(true),
          async pauseIn() {
            looked.push(name);
            if (name === 'first') await gate.promise;
            return name === 'third' ? { scope: 'everywhere', since: atNow } : undefined;
          },
        },
      });
      await notes.dropPaused(atNow, process.shared.processes.locks);
    }
    const first = start('first');
    await eventually(() => expect(looked).toEqual(['first']));
    await start('second');
    expect(looked).toEqual(['first']);
    gate.resolve();
    await first;
    // Killed where it had stored a pause, and started again while the first runs on.
    await start('third');
    expect(looked).toEqual(['first', 'third']);
    expect(await data.common.everything()).not.toContain('walrus');
  });
});
