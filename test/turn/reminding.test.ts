import { beforeEach, describe, expect, it } from 'vitest';

import type { ReminderPost } from '../../src/core/reply.ts';
import { unconditional } from '../../src/core/writes.ts';
import { createReminders } from '../../src/memory/reminders/reminders.ts';
import { createReminding } from '../../src/turn/reminding.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { messageId } from '../support/sessions.ts';

const dmId = '500000000000000001';
const hourMs = 60 * 60_000;
const work = unconditional(aliceId);

interface Posted {
  readonly channelId: string;
  readonly text: string;
}

let store: MemoryStore;
let time: number;
let posted: Posted[];
let hidden: string[];
/** What Discord does with a message: takes it, takes it just before the process ends, or refuses it there. */
let takes: (channelId: string) => 'taken' | 'killed' | 'refused';
let isOpen: boolean;

beforeEach(() => {
  store = new MemoryStore();
  time = Date.parse('2026-11-26T09:00:00Z');
  posted = [];
  hidden = [];
  takes = () => 'taken';
  isOpen = true;
});

/** As a process has it, over the same disk and channels. */
function open() {
  const basics = { store, writes: plainWrites(), clock: () => new Date(time) };
  const reminders = createReminders({
    ...basics,
    timeZoneOf: () => Promise.resolve('UTC'),
    wakeAt: () => Promise.resolve(),
  });
  const post: ReminderPost = {
    mayRead: () => Promise.resolve(isOpen),
    send({ channelId = dmId, text, buttons }) {
      const outcome = takes(channelId);
      if (outcome === 'refused') return Promise.resolve(undefined);
      posted.push({ channelId, text: text + JSON.stringify(buttons) });
      if (outcome === 'killed') return Promise.reject(new Error('killed'));
      return Promise.resolve({ channelId, messageId: messageId(posted.length) });
    },
    find({ channelId = dmId, mark }) {
      const index = posted.findIndex((each) => each.channelId === channelId && each.text.includes(mark));
      return Promise.resolve(index < 0 ? undefined : { channelId, messageId: messageId(index + 1) });
    },
  };
  const reminding = createReminding({
    ...basics,
    reminders,
    post,
    begin: () => Promise.resolve(work),
    channels: { placeOf: () => Promise.resolve(publicPlace) },
    outbox: {
      hide(_, ids) {
        hidden.push(...ids);
        return Promise.resolve();
      },
    },
    logger: recordingLogger(),
  });
  return { reminders, reminding };
}

async function set(text: string, inMs: number, repeat?: 'daily'): Promise<void> {
  const at = new Date(time + inMs);
  const place = { place: publicPlace, where: 'here', messageId: messageId(9) } as const;
  expect(await open().reminders.set(work, { text, at, repeat, ...place })).toMatchObject({ text });
}

describe('a reminder that falls due', () => {
  it('that was posted before a kill is found where it was, also where that is closed to its person by now [RM4]', async () => {
    await set('call mum', hourMs);
    time += hourMs;
    takes = () => 'killed';
    await expect(open().reminding.remind(aliceId)).rejects.toThrow('killed');
    takes = () => 'taken';
    isOpen = false;
    await open().reminding.remind(aliceId);
    expect(posted).toMatchObject([{ channelId: generalId }]);
    expect(hidden).toEqual([messageId(1)]);
    expect(await open().reminders.due(aliceId)).toEqual([]);
  });

  it('comes directly where its channel refuses it, once over a kill there too [RM3]', async () => {
    await set('call mum', hourMs);
    time += hourMs;
    takes = (channelId) => (channelId === generalId ? 'refused' : 'killed');
    await expect(open().reminding.remind(aliceId)).rejects.toThrow('killed');
    await open().reminding.remind(aliceId);
    expect(posted).toMatchObject([{ channelId: dmId }]);
  });

  it('is in one list with what is older than a day, of which a kill makes no second one [RM4]', async () => {
    for (let count = 1; count <= 12; count += 1) await set(`number ${count}`, count * hourMs);
    time += 48 * hourMs;
    takes = () => 'killed';
    await expect(open().reminding.remind(aliceId)).rejects.toThrow('killed');
    takes = () => 'taken';
    await set('later', 0);
    time += 30 * hourMs;
    await open().reminding.remind(aliceId);
    expect(posted.map(({ text }) => /number|later/u.exec(text)?.[0])).toEqual(['number', 'later']);
  });

  it('is kept as missed where nobody can be reached', async () => {
    await set('call mum', hourMs);
    time += hourMs;
    takes = () => 'refused';
    await open().reminding.remind(aliceId);
    expect(await open().reminders.list(aliceId)).toMatchObject([{ text: 'call mum', missed: 'untold' }]);
  });
});
