import { beforeEach, describe, expect, it } from 'vitest';

import { limits } from '../../../src/core/limits.ts';
import { mention } from '../../../src/core/own-words.ts';
import type { Place } from '../../../src/core/place.ts';
import { unconditional } from '../../../src/core/writes.ts';
import {
  createReminders,
  type NewReminder,
  type Reminders,
} from '../../../src/memory/reminders/reminders.ts';
import { createReminderTool } from '../../../src/memory/reminders/tool.ts';
import type { TurnContext } from '../../../src/core/turn-context.ts';
import type { Deletion } from '../../../src/memory/layer.ts';
import { emptyRecord, wholly, withheldKey, withheldKind } from '../../../src/memory/withheld.ts';
import { aliceId, publicPlace } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { plainWrites } from '../../support/plain-writes.ts';
import { dmPlace, messageId, withdrawnMessage } from '../../support/sessions.ts';

const work = unconditional(aliceId);
const start = Date.parse('2026-11-26T09:00:00Z');

let store: MemoryStore;
let time: { now: number; zone: string };
let wakes: string[];
let reminders: Reminders;

beforeEach(() => {
  store = new MemoryStore();
  time = { now: start, zone: 'Europe/Berlin' };
  wakes = [];
  reminders = open();
});

/** As a process has it, over the same store. */
function open(): Reminders {
  return createReminders({
    store,
    writes: plainWrites(),
    clock: () => new Date(time.now),
    timeZoneOf: () => Promise.resolve(time.zone),
    wakeAt: (_, at) => {
      wakes.push(at.toISOString());
      return Promise.resolve();
    },
    textOf: () => Promise.resolve(undefined),
  });
}

async function set(text: string, at: string, more: Partial<NewReminder> = {}): Promise<string> {
  const added = await reminders.set(work, {
    text,
    at: new Date(at),
    repeat: undefined,
    place: publicPlace,
    messageId: messageId(1),
    ...more,
  });
  return typeof added === 'string' ? added : added.id;
}

async function move(id: string, at: string) {
  const known = (await reminders.list(aliceId)).find((each) => each.id === id);
  return known && reminders.move(work, known, new Date(at));
}

const turn: TurnContext = {
  speaker: { id: aliceId, name: 'Alice', isOwner: false },
  place: publicPlace,
  messages: [],
  now: new Date(start),
  work,
  hasThirdPartyText: false,
};

async function byTool(text: string, when: string, what: string) {
  const tool = createReminderTool({
    reminders,
    timeZoneOf: () => Promise.resolve(time.zone),
    shownClock: () => Promise.resolve(''),
  });
  const message = { id: messageId(1), text, at: new Date(start).toISOString(), attachments: [] };
  const context = { ...turn, now: new Date(time.now), messages: [message], hasThirdPartyText: false };
  return tool.run({ when, what }, context, new AbortController().signal);
}

async function linesIn(place: Place): Promise<readonly string[] | undefined> {
  const [section] = await reminders.layer.sections({ ...turn, place, now: new Date(time.now) });
  return section?.lines;
}

const texts = async () => (await reminders.list(aliceId)).map(({ text, at }) => `${text} ${at.slice(0, 16)}`);

describe('a reminder', () => {
  it('is due at its moment, not before, and once [RM4]', async () => {
    const id = await set('call mum', '2026-11-26T10:00Z');
    expect(wakes).toEqual(['2026-11-26T10:00:00.000Z']);
    time.now += 59 * 60_000;
    expect(await reminders.due(aliceId)).toEqual([]);
    time.now += 60_000;
    expect(await reminders.due(aliceId)).toMatchObject([{ id, text: 'call mum' }]);
    await reminders.came(work, [id], true);
    expect(await reminders.due(aliceId)).toEqual([]);
  });

  it('comes again at its hour, also where its person moves to another zone, and after clocks change [RM6]', async () => {
    const id = await set('stand up', '2026-11-26T10:00Z', { repeat: 'daily' });
    time.now = Date.parse('2026-11-26T10:00Z');
    await reminders.came(work, [id], true);
    expect(await texts()).toEqual(['stand up 2026-11-27T10:00']);
    time.zone = 'America/New_York';
    await reminders.refresh(aliceId);
    expect(await texts()).toEqual(['stand up 2026-11-26T16:00']);
  });

  it('that was put off comes once more [RM5]', async () => {
    const id = await set('call mum', '2026-11-26T10:00Z');
    time.now = Date.parse('2026-11-26T10:00Z');
    await reminders.came(work, [id], true);
    await move(id, '2026-11-26T10:10Z');
    time.now = Date.parse('2026-11-26T10:10Z');
    expect(await reminders.due(aliceId)).toMatchObject([{ id, text: 'call mum' }]);
  });

  it('for weekdays that is set or moved to a weekend waits for Monday [RM6]', async () => {
    const id = await set('stand up', '2026-11-28T10:00Z', { repeat: 'weekdays' });
    expect(await texts()).toEqual(['stand up 2026-11-30T10:00']);
    expect(await move(id, '2026-12-06T11:00Z')).toMatchObject({ at: '2026-12-07T11:00:00.000Z' });
  });

  it('is gone once it is removed', async () => {
    const id = await set('call mum', '2026-11-26T10:00Z');
    await reminders.remove(work, id);
    expect(await texts()).toEqual([]);
    expect(await store.everything()).not.toMatch(/call/u);
  });

  it('that is moved to later is waited for again where nothing is due at its former moment', async () => {
    const id = await set('call mum', '2026-11-26T10:00Z');
    await move(id, '2026-11-26T11:00Z');
    wakes = [];
    time.now = Date.parse('2026-11-26T10:00Z');
    expect(await reminders.due(aliceId)).toEqual([]);
    expect(wakes).toEqual(['2026-11-26T11:00:00.000Z']);
  });

  it.each([
    ['long', 'a'.repeat(501)],
    ['secret', 'the password: Tr0ub4dor&3'],
    ['empty', '  '],
  ])('is refused as %s [RM7]', async (why, text) => {
    expect(await set(text, '2026-11-26T10:00Z')).toBe(why);
    expect(await texts()).toEqual([]);
  });

  it('is refused where there are fifty, of which what came makes room [L3]', async () => {
    for (let count = 0; count < limits.reminders; count += 1) await set(`${count}`, '2026-11-26T10:00Z');
    expect(await set('one more', '2026-11-26T10:00Z')).toBe('full');
    const [first] = await reminders.list(aliceId);
    time.now = Date.parse('2026-11-26T10:00Z');
    await reminders.came(work, [first?.id ?? ''], true);
    await set('in its place', '2026-11-26T11:00Z');
    expect(await texts()).toHaveLength(limits.reminders);
    expect(await texts()).toContain('in its place 2026-11-26T11:00');
  });

  it('waits again after a start, and is dropped a week after it came', async () => {
    const id = await set('call mum', '2026-11-26T10:00Z');
    wakes = [];
    reminders = open();
    await reminders.refresh(aliceId);
    expect(wakes).toEqual(['2026-11-26T10:00:00.000Z']);
    time.now += 60 * 60_000;
    await reminders.came(work, [id], true);
    time.now += 8 * 24 * 60 * 60_000;
    await reminders.refresh(aliceId);
    expect(await store.everything()).not.toContain('call mum');
  });

  it('is set once by a turn that a kill has run again, counted from when it was said [RM4]', async () => {
    for (let times = 0; times < 2; times += 1, time.now += 2 * 60_000)
      expect(await byTool('Remind me in 1 hour to call mum', 'in 1 hour', 'call mum')).toMatchObject({
        ok: true,
      });
    expect(await texts()).toEqual(['call mum 2026-11-26T10:00']);
  });

  it.each([
    ['names somebody', `ask ${mention('@', 'Ann Lee')} about it`, 'ask @Ann Lee about it'],
    ['holds code', 'run `npm test`', 'run `npm test`'],
  ])('is set in own words where that %s [RM1]', async (_, said, what) => {
    expect(await byTool(`Remind me in 1 hour to ${said}`, 'in 1 hour', what)).toMatchObject({ ok: true });
    expect(await byTool(`> ${said}\nRemind me in 1 hour`, 'in 1 hour', what)).toMatchObject({ ok: false });
  });

  it('tells since when and where it is being said, so that a kill makes no second one [RM4]', async () => {
    const id = await set('call mum', '2026-11-26T10:00Z');
    time.now = Date.parse('2026-11-26T10:00Z');
    await reminders.begin(work, [id], 'mark', publicPlace.channelId);
    reminders = open();
    expect(await reminders.due(aliceId)).toMatchObject([
      { attempt: { at: '2026-11-26T10:00:00.000Z', channelId: publicPlace.channelId, mark: 'mark' } },
    ]);
  });

  it('that was taken away or moved meanwhile is not said', async () => {
    const id = await set('call mum', '2026-11-26T10:00Z');
    time.now = Date.parse('2026-11-26T10:00Z');
    await move(id, '2026-11-26T11:00Z');
    expect(await reminders.begin(work, [id], 'mark')).toBe(false);
    await reminders.remove(work, id);
    expect(await reminders.begin(work, [id], 'mark')).toBe(false);
  });
});

describe('what takes reminders', () => {
  const session = { channelId: publicPlace.channelId, userId: aliceId };
  const cause = { kind: 'deleted', channelId: session.channelId, messageIds: [messageId(1)] } as const;

  it.each<[string, Deletion]>([
    ['their message', { kind: 'messages', session, cause, messages: [withdrawnMessage(messageId(1))] }],
    ['their words', { kind: 'words', userId: aliceId, words: 'mum', commandId: messageId(9) }],
    ['erasing', { kind: 'person', userId: aliceId, sessions: [] }],
  ])('is %s [RM7]', async (_, deletion) => {
    await set('call mum', '2026-11-26T10:00Z');
    await reminders.layer.delete(deletion);
    expect(await store.everything()).not.toContain('mum');
  });

  it('is known by the command that set it, which is in no log, also after a start', async () => {
    await set('call mum', '2026-11-26T10:00Z');
    for (const each of [reminders, (reminders = open())]) {
      await each.refresh(aliceId);
      expect(await each.layer.holdersOf?.(cause)).toEqual([session]);
    }
    await reminders.layer.delete({ kind: 'messages', session, cause, messages: [] });
    expect(await reminders.layer.holdersOf?.(cause)).toEqual([]);
  });

  it('is hidden while its message is forgotten, and there again after undo [K5]', async () => {
    await set('call mum', '2026-11-26T10:00Z');
    const { channelId } = session;
    const at = new Date(start).toISOString();
    const record = {
      ...emptyRecord(aliceId, at, { kind: 'forgotten', commandId: messageId(9) }),
      messages: [{ channelId, messageId: messageId(1) }],
    };
    await store.update(withheldKey(aliceId), withheldKind, () => ({
      version: 1 as const,
      records: [record],
    }));
    time.now = Date.parse('2026-11-26T10:00Z');
    expect([await texts(), await reminders.due(aliceId), await linesIn(dmPlace)]).toEqual([[], [], []]);
    await store.remove(withheldKey(aliceId));
    expect(await reminders.due(aliceId)).toMatchObject([{ text: 'call mum' }]);
  });

  const aged = { kind: 'messages', session, cause, messages: [withdrawnMessage(messageId(1))] } as const;

  it.each<[string, Deletion]>([
    [
      'what a channel held, as they come by direct message',
      { kind: 'conversations', userId: aliceId, sessions: [session] },
    ],
    ['their message that is too old, or says what was purged', { ...aged, areItemsKept: true }],
    ['other words', { kind: 'words', userId: aliceId, words: 'dad', commandId: messageId(9) }],
  ])('is not %s [K15]', async (_, deletion) => {
    await set('call mum', '2026-11-26T10:00Z');
    await reminders.layer.delete(deletion);
    expect(await texts()).toHaveLength(1);
  });
});

describe('a reminder whose message was forgotten', () => {
  it('is told by nothing and does not come, unless that is undone [RM7] [F5]', async () => {
    await set('call mum', '2026-11-26T10:00Z', { place: dmPlace });
    time.now = Date.parse('2026-11-26T10:00Z');
    const forgotten = { kind: 'forgotten', commandId: messageId(9) } as const;
    const record = {
      ...emptyRecord(aliceId, new Date(start).toISOString(), forgotten),
      messages: wholly(dmPlace.channelId, [messageId(1)]),
    };
    await store.update(withheldKey(aliceId), withheldKind, () => ({
      version: 1 as const,
      records: [record],
    }));
    expect(await texts()).toEqual([]);
    expect(await linesIn(dmPlace)).toEqual([]);
    expect(await reminders.due(aliceId)).toEqual([]);
    await store.remove(withheldKey(aliceId));
    expect(await reminders.due(aliceId)).toMatchObject([{ text: 'call mum' }]);
  });
});

describe('reminders in a prompt [RM5]', () => {
  it('are the next five, where they may be told [V2]', async () => {
    await set('in private', '2026-11-26T10:00Z', { place: dmPlace });
    for (let count = 1; count <= 6; count += 1) await set(`public ${count}`, `2026-11-26T1${count}:00Z`);
    expect((await linesIn(publicPlace))?.join()).not.toContain('in private');
    expect(await linesIn(publicPlace)).toHaveLength(5);
    expect((await linesIn(dmPlace))?.[0]).toBe('- Thu 2026-11-26 11:00: in private');
  });

  it('are cut short where they do not fit', async () => {
    for (const hour of [10, 11])
      await set(`call ${'my dear mum '.repeat(40)}`, `2026-11-26T${hour}:00Z`, { place: dmPlace });
    expect(await linesIn(dmPlace)).toEqual([
      expect.stringMatching(/^- Thu 2026-11-26 11:00: call my dear .*…$/u),
      expect.stringMatching(/^- Thu 2026-11-26 12:00: call my dear .*…$/u),
    ]);
  });
});
