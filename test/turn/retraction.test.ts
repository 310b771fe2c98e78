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
  const retraction = createRetraction({
    sessionLog: log,
    durable,
    rolling: { retract: () => Promise.resolve() },
    shortTerm: { retract: () => Promise.resolve() },
    journal: { dropSentTexts: () => Promise.resolve() },
  });
  const texts = async () => (await durable.list(aliceId)).map(({ text }) => text).toSorted();
  return { log, retraction, messageId, texts };
}

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
