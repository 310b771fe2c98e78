import { setImmediate } from 'node:timers/promises';

import { beforeEach, describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { compareSnowflakes, snowflakeAt } from '../../src/core/snowflake.ts';
import { localDateTime } from '../../src/core/time.ts';
import { createWorkQueue, type WorkQueue } from '../../src/core/work-queue.ts';
import { unconditional } from '../../src/core/writes.ts';
import { listedReminder, removeButton } from '../../src/memory/reminders/notices.ts';
import { createReminders, type NewReminder, type Reminders } from '../../src/memory/reminders/reminders.ts';
import { createReminding } from '../../src/turn/reminding.ts';
import { createReminderPost } from '../../src/discord/replies/reminder-post.ts';
import { NotPermittedError } from '../../src/discord/refusals.ts';
import { aliceId } from '../support/incoming.ts';
import { ManualTimer } from '../support/manual-timer.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { messageId, silent } from '../support/sessions.ts';

const work = unconditional(aliceId);
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
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
let present: Place | undefined;
let mayRead: boolean;
/** Discord refuses what is posted there. */
let refuses: (channelId: string) => boolean;
let inUse: string[];
let reminders: Reminders;
let remind: (userId: string) => Promise<void>;
/** By how much Discord's clock is behind; milliseconds. */
let behindMs: number;
/** What stands where. */
let posted: {
  readonly id: string;
  readonly channelId: string;
  readonly content: string;
  readonly author: { readonly bot: true };
  readonly components: readonly object[];
  readonly at: number;
}[];
/** Discord takes a message only once this is done. */
let beforeTaken: (() => Promise<unknown>) | undefined;
let wakes: string[];
let zone: string;
let store: MemoryStore;
/** Told when one is to be looked at. */
let wakeAt: (userId: string, at: Date) => Promise<void>;

beforeEach(() => {
  store = new MemoryStore();
  now = start;
  zone = 'UTC';
  present = room;
  mayRead = true;
  refuses = () => false;
  inUse = [];
  behindMs = 0;
  posted = [];
  wakes = [];
  beforeTaken = undefined;
  wakeAt = async (_, at) => void wakes.push(at.toISOString());
  open();
});

const clock = () => new Date(now);

/** As a process has it, over the same store. */
function open(): void {
  reminders = createReminders({
    store,
    writes: plainWrites(),
    clock,
    timeZoneOf: async () => zone,
    wakeAt: (userId, at) => wakeAt(userId, at),
    textOf: async () => undefined,
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
        if (refuses(channelId)) throw new NotPermittedError('send', channelId);
        const first = snowflakeAt(new Date(now - behindMs));
        const id = String(BigInt(first) + BigInt(posted.length + 1));
        posted.push({ id, author: { bot: true }, channelId, content, components, at: now });
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
        return { id } as never;
      },
      messagesAfter: async (channelId, after) =>
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that is looked at
        posted
          .filter((each) => each.channelId === channelId && compareSnowflakes(each.id, after) > 0)
          .slice(0, 100) as never,
    },
    async () => mayRead,
  );
  ({ remind } = createReminding({
    reminders,
    begin: async () => work,
    channels: { placeOf: async () => present },
    post,
    outbox: { hide: async (channelId) => void inUse.push(channelId) },
    clock,
    logger: silent,
  }));
}

async function set(text: string, minutes: number, repeat?: NewReminder['repeat']): Promise<string> {
  const at = new Date(start + minutes * minuteMs);
  const wish = { text, at, repeat, place: room, messageId: messageId(1) } as const;
  const added = await reminders.set(work, wish);
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
      async () => {
        const [known] = await reminders.list(aliceId);
        if (known !== undefined) await reminders.move(work, known, new Date(start + 60 * minuteMs));
      },
      [],
      1,
    ],
    ['its channel is opened to others: it comes by direct message', async () => openRoom(), ['dm'], 1],
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
    await remindUntilKilled();
    openRoom();
    await remind(aliceId);
    expect(places()).toEqual(['room']);
    expect(await reminders.due(aliceId)).toEqual([]);
    expect(inUse).toEqual([room.channelId, room.channelId]);
  });

  it('is known again after a kill where the clock of Discord is two seconds behind', async () => {
    behindMs = 2000;
    await remindUntilKilled();
    await remind(aliceId);
    expect(posted).toHaveLength(1);
    expect(await reminders.due(aliceId)).toEqual([]);
  });
});

it('is known again after a kill behind hundreds of other messages [RM4]', async () => {
  await set('call mum', 1);
  now += minuteMs;
  const { channelId } = room;
  for (let count = 1; count <= 250; count += 1) {
    const id = snowflakeAt(new Date(now - 10_000 + count));
    posted.push({ id, author: { bot: true }, channelId, content: 'hello', components: [], at: now });
  }
  await remindUntilKilled();
  await remind(aliceId);
  expect(posted.filter(({ content }) => content.includes('call mum'))).toHaveLength(1);
});

it('is not taken for said after a kill where a list names it since [RM4]', async () => {
  await set('call mum', 1);
  now += minuteMs;
  await remindUntilHeld();
  const [listed] = await reminders.list(aliceId);
  if (listed === undefined) throw new Error('Nothing waits');
  const components = [{ custom_id: `do::${removeButton(listed).line}` }];
  const id = snowflakeAt(new Date(now + 1));
  posted.push({
    id,
    author: { bot: true },
    channelId: room.channelId,
    content: listedReminder(listed),
    components,
    at: now,
  });
  open();
  await remind(aliceId);
  expect(posted.map(({ content }) => content.includes('<@'))).toEqual([false, true]);
});

it('those that fall due together come once each, over a kill behind the first and one as the second is posted [RM4]', async () => {
  const texts = ['call mum', 'water plants', 'feed the cat'];
  for (const text of texts) await set(text, 1);
  now += minuteMs;
  await remindUntilKilled();
  const said = () => texts.map((text) => posted.filter(({ content }) => content.includes(text)).length);
  expect(said()).toEqual([1, 0, 0]);
  await remindUntilHeld();
  open();
  await remind(aliceId);
  expect(said()).toEqual([1, 1, 1]);
});

/** What was posted is not marked as such. */
async function remindUntilKilled(): Promise<void> {
  const came = reminders.came.bind(reminders);
  reminders.came = () => Promise.reject(new Error('killed'));
  await expect(remind(aliceId)).rejects.toThrow('killed');
  reminders.came = came;
}

/** It is on disk that it is being said, and Discord has not taken it. */
async function remindUntilHeld(): Promise<void> {
  await new Promise<void>((resolve) => {
    beforeTaken = () => new Promise(() => resolve());
    void remind(aliceId);
  });
}

describe('a reminder of a private channel [RM3]', () => {
  beforeEach(async () => {
    await set('call mum', 1);
    now += minuteMs;
  });

  it.each<[string, () => void]>([
    ['others can read the channel by now', () => openRoom()],
    ['the channel is gone', () => (present = undefined)],
    ['nobody knows who can read the channel', () => (present = { ...room, readers: undefined })],
    ['its person cannot read the channel any more', () => (mayRead = false)],
    ['Discord refuses it there', () => (refuses = (channelId) => channelId !== dmId)],
  ])('comes by direct message where %s, once over a kill', async (_, happens) => {
    happens();
    await remindUntilKilled();
    await remind(aliceId);
    expect(places()).toEqual(['dm']);
  });

  it('comes by direct message where nobody knows who could read the channel then [V2a]', async () => {
    const place = { ...room, readers: undefined };
    const at = new Date(start + minuteMs);
    await reminders.set(work, { text: 'hush', at, place, messageId: messageId(2), repeat: undefined });
    openRoom();
    await remind(aliceId);
    expect(posted.find(({ content }) => content.includes('hush'))?.channelId).toBe(dmId);
  });

  it('is kept as missed where nobody can be reached', async () => {
    refuses = () => true;
    await remind(aliceId);
    expect(await reminders.list(aliceId)).toMatchObject([{ text: 'call mum', missed: 'untold' }]);
  });

  it('is listed as missed with when it comes again, where it does', async () => {
    refuses = () => true;
    await set('stand up', 1, 'daily');
    await remind(aliceId);
    const lines = (await reminders.list(aliceId)).map(listedReminder);
    expect(lines).toEqual([
      expect.stringMatching(/^missed: .*call mum/u),
      expect.stringMatching(/^missed, comes again .*, daily: "stand up"/u),
    ]);
  });
});

it('what is older than a day comes in one list, of which a kill makes no second one [RM4]', async () => {
  for (let count = 1; count <= 12; count += 1) await set(`number ${count}`, count * 60);
  now += 2 * dayMs;
  await remindUntilKilled();
  await set('later', 2 * 24 * 60);
  now += hourMs;
  await remind(aliceId);
  expect(posted.map(({ content }) => /number|later/u.exec(content)?.[0])).toEqual(['number', 'later']);
});

it('of what comes again and was missed the newest comes once, and in the list only where that is older than a day [RM4]', async () => {
  await set('stand up', 1, 'daily');
  await set('water plants', 1, 'weekly');
  now += 10 * dayMs + hourMs;
  await remind(aliceId);
  const seconds = (days: number): string => String((start + minuteMs + days * dayMs) / 1000);
  expect(places()).toEqual(['dm', 'room']);
  expect(posted[0]?.content).toContain(`<t:${seconds(7)}:F>`);
  expect(posted[0]?.content).not.toContain('stand up');
  expect(posted[1]?.content).toContain(`It was due <t:${seconds(10)}:F>`);
  const next = (await reminders.list(aliceId)).map(({ at }) => Date.parse(at) / 1000);
  expect(next.map(String)).toEqual([seconds(11), seconds(14)]);
});

function openRoom(): void {
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

/** Lets time pass, in which the clock may be set and processes may end; gives when something came, by the clock on the wall. */
async function live(
  hours: number,
  happens: Readonly<Record<number, () => void>> = {},
  restartEveryMs = Infinity,
): Promise<readonly string[]> {
  const timer = new ManualTimer();
  let queue: WorkQueue | undefined;
  const restart = async (): Promise<void> => {
    queue?.stop();
    const next = createWorkQueue({ clock: () => new Date(now), timer: timer.set, logger: silent });
    queue = next;
    wakeAt = (userId, at) => next.add(userId, 'expire', at);
    open();
    next.start(({ userId }) => remind(userId));
    await reminders.refresh(aliceId);
  };
  await restart();
  // A minute at a time; every hour everybody is looked through, as the bot does.
  for (let passed = 0; passed < hours * hourMs; passed += minuteMs) {
    happens[passed / hourMs]?.();
    if (passed % restartEveryMs === 0) await restart();
    else if (passed % hourMs === 0) await reminders.refresh(aliceId);
    now += minuteMs;
    timer.pass(minuteMs);
    for (let turns = 0; turns < 5; turns += 1) await setImmediate();
  }
  return posted.map(
    ({ at, content }) =>
      `${localDateTime(new Date(at), zone)}${content.includes('It was due') ? ' late' : ''}`,
  );
}

/** Moves the clock, forward or back. */
const jump = (ms: number) => () => {
  now += ms;
};
const move = (to: string) => () => {
  zone = to;
};

describe('what came when [RM4] [RM6]', () => {
  it.each<[string, string, string, number | string, Parameters<typeof live>, readonly string[]]>([
    ['once', 'Europe/Berlin', '2026-11-26T09:00Z', 120, [4], ['2026-11-26 12:00']],
    [
      'a clock that is put an hour ahead',
      'UTC',
      '2026-11-26T09:00Z',
      180,
      [4, { 1: jump(hourMs) }],
      ['2026-11-26 12:00'],
    ],
    [
      'a clock that is put a day ahead',
      'UTC',
      '2026-11-26T09:00Z',
      180,
      [4, { 1: jump(dayMs) }],
      ['2026-11-27 10:01 late'],
    ],
    [
      'a clock that is put an hour back before',
      'UTC',
      '2026-11-26T09:00Z',
      120,
      [4, { 1: jump(-hourMs) }],
      ['2026-11-26 11:00'],
    ],
    [
      'a clock that is put an hour back after',
      'UTC',
      '2026-11-26T09:00Z',
      60,
      [4, { 1.5: jump(-hourMs) }],
      ['2026-11-26 10:00'],
    ],
    [
      'a clock that is put a day back after',
      'UTC',
      '2026-11-26T09:00Z',
      60,
      [30, { 2: jump(-dayMs) }],
      ['2026-11-26 10:00'],
    ],
    [
      'clocks put forward, daily',
      'Europe/Berlin',
      '2027-03-26T12:00Z',
      'daily',
      [72],
      ['2027-03-26 13:30', '2027-03-27 13:30', '2027-03-28 13:30', '2027-03-29 13:30'],
    ],
    [
      'clocks put back, daily',
      'America/New_York',
      '2026-10-30T12:00Z',
      'daily',
      [72],
      ['2026-10-30 08:30', '2026-10-31 08:30', '2026-11-01 08:30'],
    ],
    [
      'its person moves while it waits',
      'Europe/Berlin',
      '2026-11-26T09:00Z',
      'daily',
      [48, { 3: move('America/New_York') }],
      // Shown by the clock of New York.
      ['2026-11-26 04:30', '2026-11-26 10:30', '2026-11-27 10:30'],
    ],
    [
      'a hundred restarts',
      'Asia/Kolkata',
      '2026-11-26T09:00Z',
      'daily',
      [100, {}, hourMs],
      ['2026-11-26 15:00', '2026-11-27 15:00', '2026-11-28 15:00', '2026-11-29 15:00', '2026-11-30 15:00'],
    ],
  ])('%s', async (_, timeZone, begins, when, life, came) => {
    zone = timeZone;
    now = Date.parse(begins);
    const inMinutes = typeof when === 'number' ? when : 30;
    await set('call mum', inMinutes + (now - start) / minuteMs, when === 'daily' ? 'daily' : undefined);
    expect(await live(...life)).toEqual(came);
  });
});
