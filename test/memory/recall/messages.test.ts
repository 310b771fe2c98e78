import { describe, expect, it } from 'vitest';

import { createDates } from '../../../src/memory/recall/dates.ts';
import { SessionMessages } from '../../../src/memory/recall/messages.ts';
import type { Segment } from '../../../src/memory/recall/segments.ts';
import { TermReader } from '../../../src/memory/recall/words.ts';
import { generalId } from '../../support/incoming.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { openSessions, secretPlace, session } from '../../support/sessions.ts';
import { beginningNow } from '../../../src/core/writes.ts';

const minute = 60_000;

const unitsOf = (segments: readonly Segment[]) => segments.flatMap(({ units }) => units);

function openMessages() {
  const sessions = openSessions(new MemoryStore());
  const readers = { terms: new TermReader(), dates: createDates('UTC') };
  const messages = new SessionMessages(sessions.log, session, readers);
  async function units() {
    return unitsOf(await messages.segments());
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
    const { say, log } = openMessages();
    const reads: number[] = [];
    const counted = new SessionMessages(
      {
        ...log,
        since: (of, cursor) => {
          reads.push(cursor);
          return log.since(of, cursor);
        },
      },
      session,
      { terms: new TermReader(), dates: createDates('UTC') },
    );
    await say('one');
    for (let count = 0; count < 2; count += 1) await counted.segments();
    for (const text of ['two', 'three', 'four', 'five', 'six', 'seven']) await say(text);
    await counted.segments();
    for (const text of ['eight', 'nine']) await say(text);
    const texts = unitsOf(await counted.segments()).map(({ text }) => text);
    expect(texts).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine']);
    expect(reads).toEqual([0, 1, 7]);
  });

  it('read as they do now when one is edited or deleted, also where no line was erased yet', async () => {
    const { contextOf, log, messages, units, writes } = openMessages();
    const context = contextOf(Array.from({ length: 20 }, (_, index) => `message ${index}`));
    await log.recordUser(context);
    expect(await units()).toHaveLength(20);
    const idAt = (index: number) => context.messages[index]?.id ?? '';
    await log.edit(generalId, idAt(12), 'edited');
    await log.remove(generalId, [idAt(13)]);
    const after = await messages.segments();
    expect(unitsOf(after)).toHaveLength(19);
    expect(after.map(({ postings }) => postings.get('edit'))).toEqual([[12]]);
    for (const change of [
      { kind: 'edited', channelId: generalId, messageId: idAt(2), text: 'marked' } as const,
      { kind: 'deleted', channelId: generalId, messageIds: [idAt(3), idAt(18)] } as const,
    ]) {
      const affected = await log.affected(session, change);
      await writes.run(beginningNow(session.userId), () =>
        log.follow({ kind: 'withdrawn', session, messages: affected, cause: change }, 'hide'),
      );
    }
    const texts = (await units()).map(({ text }) => text);
    expect(texts.slice(0, 4)).toEqual(['message 0', 'message 1', 'marked', 'message 4']);
    expect(texts.slice(-2)).toEqual(['message 17', 'message 19']);
    expect(texts).toHaveLength(17);
    await log.recordUser(contextOf(['message 20']));
    expect((await units()).map(({ text }) => text)).toEqual([...texts, 'message 20']);
  });

  it('name their attachments', async () => {
    const { contextOf, log, units } = openMessages();
    const context = contextOf(['my invoice']);
    const messages = context.messages.map((message) => ({ ...message, attachments: ['march.pdf'] }));
    await log.recordUser({ ...context, messages });
    expect((await units())[0]?.text).toBe('my invoice [march.pdf]');
  });
});
