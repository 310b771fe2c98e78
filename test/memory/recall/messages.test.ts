import { describe, expect, it } from 'vitest';

import { createDates } from '../../../src/memory/recall/dates.ts';
import { SessionMessages } from '../../../src/memory/recall/messages.ts';
import { TermReader } from '../../../src/memory/recall/words.ts';
import { generalId } from '../../support/incoming.ts';
import { openSessions, secretPlace, session } from '../../support/sessions.ts';

const minute = 60_000;

function openMessages() {
  const sessions = openSessions();
  const readers = { terms: new TermReader(), dates: createDates('UTC') };
  const messages = new SessionMessages(sessions.log, session, readers);
  async function units() {
    return (await messages.segments()).flatMap(({ traits }) => traits.map(({ unit }) => unit));
  }
  return { ...sessions, messages, units };
}

describe("a session's messages in the index", () => {
  it('are one stretch until there is a pause of an hour', async () => {
    const { say, time, units } = openMessages();
    for (const pause of [0, 10, 59, 61, 1]) {
      time.now += pause * minute;
      await say(`after ${pause}`);
    }
    const stretches = (await units()).map(({ stretch }) => stretch);
    expect(new Set(stretches.slice(0, 3)).size).toBe(1);
    expect(new Set(stretches.slice(3)).size).toBe(1);
    expect(stretches[2]).not.toBe(stretches[3]);
  });

  it('are another stretch for other readers', async () => {
    const { say, units } = openMessages();
    await say('to all');
    await say('to few', secretPlace);
    const [toAll, toFew] = await units();
    expect(toAll?.stretch).not.toBe(toFew?.stretch);
  });

  it('are read once, then only what is new', async () => {
    const { say, log, units } = openMessages();
    const cursors: number[] = [];
    const counted = new SessionMessages(
      {
        ...log,
        since: (of, cursor) => {
          cursors.push(cursor);
          return log.since(of, cursor);
        },
      },
      session,
      { terms: new TermReader(), dates: createDates('UTC') },
    );
    await say('one');
    await counted.segments();
    await counted.segments();
    await say('two');
    await counted.segments();
    expect(cursors).toEqual([0, 1]);
    expect((await units()).map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('make one segment anew when one of many is edited or deleted', async () => {
    const { contextOf, log, messages, units } = openMessages();
    const texts = Array.from({ length: 4500 }, (_, index) => `message ${index}`);
    const context = contextOf(texts);
    await log.recordUser(context);
    const before = await messages.segments();
    expect(before.map(({ traits }) => traits.length)).toEqual([4000, 500]);
    await log.edit(generalId, context.messages[4200]?.id ?? '', 'edited');
    await log.remove(generalId, [context.messages[4300]?.id ?? '']);
    const after = await messages.segments();
    expect(after[0]).toBe(before[0]);
    expect(after[1]?.traits).toHaveLength(499);
    expect((await units())[4200]?.text).toBe('edited');
    expect(after[1]?.postings('edit')).toHaveLength(1);
  });

  it('name their attachments', async () => {
    const { contextOf, log, units } = openMessages();
    const context = contextOf(['my invoice']);
    const messages = context.messages.map((message) => ({ ...message, attachments: ['march.pdf'] }));
    await log.recordUser({ ...context, messages });
    expect((await units())[0]?.text).toBe('my invoice [march.pdf]');
  });
});
