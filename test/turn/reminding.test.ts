import { beforeEach, describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { unconditional } from '../../src/core/writes.ts';
import { createReminders, type Reminders } from '../../src/memory/reminders/reminders.ts';
import { createReminding } from '../../src/turn/reminding.ts';
import { createReminderPost } from '../../src/discord/replies/reminder-post.ts';
import { aliceId } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { messageId, silent } from '../support/sessions.ts';

const work = unconditional(aliceId);
const minuteMs = 60_000;
const start = Date.parse('2026-11-26T09:00:00Z');
const room: Place = {
  audience: 'private',
  readers: ['staff'],
  channelId: '600000000000000003',
  homeId: '600000000000000003',
  guildId: '700000000000000001',
};
const dmId = '600000000000000101';

let now: number;
let present: Place;
let reminders: Reminders;
let remind: (userId: string) => Promise<void>;
/** What stands where. */
let posted: { readonly channelId: string; readonly text: string; readonly components: readonly object[] }[];
/** Discord takes a message only once this is done. */
let beforeTaken: (() => Promise<unknown>) | undefined;
let wakes: string[];

beforeEach(() => {
  const store = new MemoryStore();
  now = start;
  present = room;
  posted = [];
  wakes = [];
  beforeTaken = undefined;
  const clock = () => new Date(now);
  reminders = createReminders({
    store,
    writes: plainWrites(),
    clock,
    timeZoneOf: () => Promise.resolve('UTC'),
    wakeAt: async (_, at) => void wakes.push(at.toISOString()),
  });
  const post = createReminderPost(
    {
      openDm: async () => dmId,
      async postMessage(channelId, { content = '', components = [] }) {
        const before = beforeTaken;
        beforeTaken = undefined;
        if (before !== undefined) {
          await before();
          throw new TypeError('fetch failed');
        }
        posted.push({ channelId, text: content, components });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
        return { id: messageId(posted.length) } as never;
      },
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
      messagesAfter: async (channelId) => posted.filter((each) => each.channelId === channelId) as never,
    },
    async () => true,
  );
  ({ remind } = createReminding({
    reminders,
    begin: async () => work,
    channels: { placeOf: async () => present },
    post,
    outbox: { hide: async () => undefined },
    buttonsUnder: ({ id }) => [{ label: 'Done', line: `reminders done ${id}` }],
    clock,
    logger: silent,
  }));
});

async function set(text: string, minutes: number): Promise<string> {
  const at = new Date(start + minutes * minuteMs);
  const added = await reminders.set(work, {
    text,
    at,
    repeat: undefined,
    where: 'here',
    place: room,
    messageId: messageId(1),
  });
  return typeof added === 'string' ? added : added.id;
}

const places = () => posted.map(({ channelId }) => (channelId === dmId ? 'dm' : 'room'));

describe('what happens while Discord does not take a reminder, or before a kill is noticed [RM3] [RM4]', () => {
  let id: string;
  beforeEach(async () => {
    id = await set('call mum', 1);
    now += minuteMs;
  });

  it.each<[string, () => Promise<unknown>, readonly string[], number]>([
    ['it is removed: it comes no more', () => reminders.remove(work, id), [], 0],
    [
      'it is moved: it comes then, and not now',
      () => reminders.move(work, id, new Date(start + 60 * minuteMs)),
      [],
      1,
    ],
    ['its channel is opened to others: it comes by direct message', async () => open(), ['dm'], 1],
  ])('%s', async (_, meanwhile, came, left) => {
    beforeTaken = meanwhile;
    await remind(aliceId);
    expect(places()).toEqual(came);
    expect(await reminders.list(aliceId)).toHaveLength(left);
    const isMoved = came.length === 0 && left === 1;
    now = start + 60 * minuteMs;
    await remind(aliceId);
    expect(posted).toHaveLength(isMoved ? 1 : came.length);
  });

  it('is known again after a kill, though others can read its channel since', async () => {
    const came = reminders.came;
    reminders.came = () => Promise.reject(new Error('killed'));
    await expect(remind(aliceId)).rejects.toThrow('killed');
    reminders.came = came;
    open();
    await remind(aliceId);
    expect(places()).toEqual(['room']);
    expect(await reminders.due(aliceId)).toEqual([]);
  });
});

function open(): void {
  present = { ...room, audience: 'public', readers: ['@everyone'] };
}

it('waits for the next where the one that it woke for is gone [RM4]', async () => {
  const first = await set('call mum', 1);
  await set('water plants', 60);
  await reminders.remove(work, first);
  wakes = [];
  now += minuteMs;
  await remind(aliceId);
  expect(wakes).toEqual([new Date(start + 60 * minuteMs).toISOString()]);
});
