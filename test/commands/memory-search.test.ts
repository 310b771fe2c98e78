import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';

type Harness = ReturnType<typeof createHarness>;

/** Alice says something that is logged. */
async function tell({ sessionLog }: Harness, id: string, text: string, place: Place): Promise<void> {
  await sessionLog.recordUser({
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place,
    messages: [{ id, text, at: '2026-01-14T10:00:00.000Z', attachments: [] }],
    now: new Date('2026-01-14T10:00:00.000Z'),
    hasThirdPartyText: false,
    work: { userId: aliceId },
  });
}

describe('search', () => {
  it('finds items by their id and messages by a link, with where each may be used', async () => {
    const harness = createHarness();
    const { say, idOf } = harness;
    await say('remember Prefers Rust for the parser');
    await tell(harness, '410000000000000001', 'The parser is nearly done', publicPlace);
    await tell(harness, '410000000000000002', 'My parser is secret', dmPlace);
    const found = await say('search parser', dmPlace);
    expect(found).toContain('Found 3 results for "parser":');
    expect(found).toContain(`id ${await idOf('Prefers Rust for the parser')} · everywhere`);
    const { guildId = '', channelId } = publicPlace;
    expect(found).toContain(
      `<https://discord.com/channels/${guildId}/${channelId}/410000000000000001> · server`,
    );
    expect(found).toContain(
      `<https://discord.com/channels/@me/${dmPlace.channelId}/410000000000000002> · dm`,
    );
  });

  it('tells in a channel only what may be used there, and where to find the rest [V2]', async () => {
    const harness = createHarness();
    await harness.say('remember The parser is public');
    await harness.say('remember The parser is private', privatePlace);
    await tell(harness, '410000000000000002', 'My parser is secret', dmPlace);
    const found = await harness.say('search parser', publicPlace);
    expect(found).toContain('Found 1 result');
    expect(found).toContain('is public');
    expect(found).toContain('`/memory search`');
    expect(await harness.say('search parser', privatePlace)).toContain('Found 2 results');
  });

  it('tells everything where only the asker reads the answer [K3]', async () => {
    const harness = createHarness();
    await tell(harness, '410000000000000002', 'My parser is secret', dmPlace);
    const found = await harness.say('search parser', publicPlace, { ephemeral: true });
    expect(found).toContain('My parser is secret');
    expect(found).not.toContain('`/memory search`');
  });

  it('says so where there is nothing, and finds nothing of other people', async () => {
    const { say } = createHarness();
    await say('remember Prefers Rust');
    expect(await say('search Rust', dmPlace, { speakerId: bobId })).toBe('I found nothing about "Rust".');
    expect(await say('search Haskell', dmPlace)).toBe('I found nothing about "Haskell".');
    // Enough to recognise it by.
    expect(await say(`search ${'z'.repeat(900)}`, dmPlace)).toBe(
      `I found nothing about "${'z'.repeat(99)}…".`,
    );
  });
});
