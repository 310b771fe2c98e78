import { describe, expect, it } from 'vitest';

import { createDurableMemory } from '../../src/memory/durable/durable-memory.ts';
import { createRetraction } from '../../src/turn/retraction.ts';
import { aliceId, generalId, publicPlace } from '../support/incoming.ts';
import { openSessions, session, silent } from '../support/sessions.ts';

/** A session in which the model stored an item from what Alice said, and then was killed whenever a layer should follow. */
async function setUp() {
  const sessions = openSessions();
  const { store, writes, clock, log, say } = sessions;
  const durable = createDurableMemory({
    store,
    writes,
    clock,
    logger: silent,
    timeZone: 'UTC',
    maxItems: 200,
    injectMaxChars: 2000,
  });
  const context = await say('I prefer Rust, and I live in Oslo');
  const [{ id: messageId } = { id: '' }] = context.messages;
  for (const text of ['Prefers Rust', 'Lives in Oslo'])
    await durable.remember(aliceId, { text, place: publicPlace, messageId, type: 'discord' });
  const scheduled: string[] = [];
  const retraction = createRetraction({
    sessionLog: log,
    durable,
    rolling: { retract: () => Promise.resolve() },
    shortTerm: { retract: () => Promise.resolve() },
    journal: { withdraw: () => Promise.resolve() },
    afterTurn: { schedule: ({ userId }) => scheduled.push(userId) },
  });
  const texts = async () => (await durable.list(aliceId)).map(({ text }) => text).toSorted();
  return { log, retraction, messageId, texts, scheduled };
}

describe('an edit or deletion', () => {
  const edit = { channelId: generalId, isCommand: false };

  it('has what was made of the message made anew, and does nothing for one that is not remembered', async () => {
    const { retraction, messageId, scheduled, texts } = await setUp();
    await retraction.edited({ ...edit, messageId: '400000000000000999', text: 'hello' });
    expect(scheduled).toEqual([]);
    await retraction.edited({ ...edit, messageId, authorId: aliceId, text: 'I live in Oslo' });
    expect(scheduled).toEqual([aliceId]);
    expect(await texts()).toEqual(['Lives in Oslo']);
  });

  it('takes a message back that is edited into a command, whose words are remembered nowhere [F2]', async () => {
    const { retraction, messageId, log, texts } = await setUp();
    const text = '!memory forget Rust';
    await retraction.edited({ ...edit, messageId, authorId: aliceId, text, isCommand: true });
    expect(await log.message(session, messageId)).toBeUndefined();
    expect(await texts()).toEqual([]);
  });
});

describe('a retraction that a kill interrupted', () => {
  it('is finished for a message that was deleted', async () => {
    const { log, retraction, messageId, texts } = await setUp();
    await log.remove(generalId, [messageId]);
    expect(await texts()).toEqual(['Lives in Oslo', 'Prefers Rust']);
    await retraction.finish(session);
    expect(await texts()).toEqual([]);
  });

  it('is finished for a message that was edited, and leaves what it still says', async () => {
    const { log, retraction, messageId, texts } = await setUp();
    await log.edit(generalId, messageId, 'I live in Oslo');
    await retraction.finish(session);
    expect(await texts()).toEqual(['Lives in Oslo']);
  });

  it('changes nothing where nothing was withdrawn', async () => {
    const { retraction, texts } = await setUp();
    await retraction.finish(session);
    expect(await texts()).toEqual(['Lives in Oslo', 'Prefers Rust']);
  });
});
