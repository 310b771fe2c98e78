import { beforeEach, describe, expect, it } from 'vitest';

import { createRemindCommand, createRemindersCommand } from '../../src/commands/remind-command.ts';
import type { CommandRequest } from '../../src/core/commands.ts';
import type { Place } from '../../src/core/place.ts';
import { unconditional } from '../../src/core/writes.ts';
import type { DurableItem } from '../../src/memory/durable/document.ts';
import { createReminders, type Reminders } from '../../src/memory/reminders/reminders.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { plainWrites } from '../support/plain-writes.ts';
import { dmPlace, messageId } from '../support/sessions.ts';

const now = '2026-11-26T10:00:00.000Z';
let reminders: Reminders;
let time: string;

function itemOf(place: Place, id: string, when: string): DurableItem {
  return {
    id,
    kind: 'fact',
    text: `My exam ${id} is soon`,
    status: 'active',
    pinned: false,
    visibility: place.audience === 'dm' ? 'dm' : 'server',
    source: {
      type: 'manual',
      channelId: place.channelId,
      messageId: messageId(7),
      guildId: place.guildId,
      homeId: place.homeId,
    },
    createdAt: now,
    updatedAt: now,
    when,
  };
}

const items = [
  itemOf(publicPlace, 'public00', '2027-03-15'),
  itemOf(dmPlace, 'secret00', '2027-03-15'),
  itemOf(publicPlace, 'today000', '2026-11-26'),
  itemOf(publicPlace, 'tomorrow', '2026-11-27'),
  { ...itemOf(publicPlace, 'answered', '2027-03-15'), question: 'When is it?' },
];

function press(id: string, place: Place, options: object = { do: 'item' }) {
  return answerTo('reminders', { ...options, id }, place);
}

async function answerTo(
  name: 'remind' | 'reminders',
  options: CommandRequest['command']['options'],
  place: Place,
) {
  const create = name === 'remind' ? createRemindCommand : createRemindersCommand;
  const command = create({
    reminders,
    durable: { list: () => Promise.resolve(items) },
    people: {
      timeZoneOf: () => Promise.resolve('UTC'),
      shownClock: () => Promise.resolve(''),
      pauseIn: () => Promise.resolve(undefined),
    },
    placeSettings: { isMemoryOff: () => Promise.resolve(false) },
  });
  return command.answer({
    work: unconditional(aliceId),
    id: messageId(9),
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place,
    ephemeral: true,
    at: time,
    command: { name, subcommand: '', options },
  });
}

beforeEach(() => {
  time = now;
  reminders = createReminders({
    store: new MemoryStore(),
    writes: plainWrites(),
    clock: () => new Date(time),
    timeZoneOf: () => Promise.resolve('UTC'),
    wakeAt: () => Promise.resolve(),
    textOf: () => Promise.resolve(undefined),
  });
});

describe('Remind me, under an item with a day [RM8]', () => {
  it('comes in the place where that may be told of the item, and else by direct message only [V2]', async () => {
    await press('public00', publicPlace);
    await press('secret00', publicPlace);
    expect((await reminders.list(aliceId)).map(({ place }) => place.audience)).toEqual(['public', 'dm']);
    // It goes with the message that the item came from.
    expect((await reminders.list(aliceId)).map((each) => each.messageId)).toEqual([
      messageId(7),
      messageId(7),
    ]);
  });

  it('stays where its item does: what was edited still says it, or a command that is in no log is deleted', async () => {
    await press('answered', publicPlace);
    const { channelId } = publicPlace;
    const [session, id] = [{ channelId, userId: aliceId }, messageId(7)];
    const edited = { kind: 'edited', channelId, messageId: id, text: 'My exam answered is soon!' } as const;
    await reminders.layer.delete({ kind: 'messages', session, messages: [], cause: edited });
    expect(await reminders.list(aliceId)).toHaveLength(1);
    const deleted = { kind: 'deleted', channelId, messageIds: [id] } as const;
    expect(await reminders.layer.holdersOf?.(deleted)).toEqual([]);
    await reminders.layer.delete({ kind: 'messages', session, messages: [], cause: deleted });
    expect(await reminders.list(aliceId)).toEqual([]);
  });

  it('sets nothing for a day whose nine o’clock has passed, and for no evening that has', async () => {
    expect((await press('today000', publicPlace)).text).toContain('That has passed');
    expect(await reminders.list(aliceId)).toEqual([]);
    const labels = (await press('tomorrow', publicPlace)).buttons?.map(({ label }) => label);
    expect(labels).toEqual(['Do not remind me', 'The evening before']);
  });
});

it('a reminder that comes every day and is put off comes once more, and its hour stays [RM5] [RM6]', async () => {
  const work = unconditional(aliceId);
  const at = new Date('2026-11-26T11:00:00Z');
  const daily = { text: 'stand up', at, place: dmPlace, messageId: messageId(8) };
  const set = await reminders.set(work, { ...daily, repeat: 'daily' });
  const id = typeof set === 'string' ? '' : set.id;
  time = at.toISOString();
  await reminders.came(work, [id], true);
  expect((await press(id, dmPlace, { do: 'later', when: 'in 10 minutes' })).text).toContain('It comes');
  const moments = (await reminders.list(aliceId)).map((each) => each.at.slice(0, 16));
  expect(moments).toEqual(['2026-11-26T11:10', '2026-11-27T11:00']);
});

it('a moment as Discord marks it stands before the colon [RM1] [D8]', async () => {
  await answerTo('remind', { when: '<t:1800000000:F>: call mum' }, dmPlace);
  expect(await reminders.list(aliceId)).toMatchObject([{ text: 'call mum', at: '2027-01-15T08:00:00.000Z' }]);
});

it('what is typed behind a colon of `when` comes again as `repeat` says [RM6]', async () => {
  await answerTo('remind', { when: 'tomorrow at 9: stand up', repeat: 'daily' }, dmPlace);
  expect(await reminders.list(aliceId)).toMatchObject([{ text: 'stand up', repeat: 'daily' }]);
});

it('a window names what is reminded of without cutting a character in two [L5]', async () => {
  await answerTo('remind', { when: `tomorrow: ${'a'.repeat(44)}😀` }, dmPlace);
  const [{ id } = { id: '' }] = await reminders.list(aliceId);
  expect((await press(id, dmPlace, { do: 'move' })).form?.label.isWellFormed()).toBe(true);
});
