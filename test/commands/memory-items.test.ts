import { describe, expect, it } from 'vitest';

import { StoreError } from '../../src/core/errors.ts';
import type { Place } from '../../src/core/place.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';
import { unconditional } from '../../src/core/writes.ts';

type Harness = ReturnType<typeof createHarness>;

function complete(
  { commands }: Harness,
  subcommand: string,
  typed = '',
  place: Place = dmPlace,
  speakerId = aliceId,
) {
  const option = { forget: 'target', remember: 'text' }[subcommand] ?? 'id';
  return commands.complete({
    name: 'memory',
    subcommand,
    option,
    typed,
    speaker: { id: speakerId, name: 'Alice', isOwner: false },
    place,
  });
}

async function textsOffered(...args: Parameters<typeof complete>): Promise<readonly string[]> {
  return (await complete(...args)).map(({ name }) => name.slice(0, name.lastIndexOf(' · ')));
}

describe('completing an item', () => {
  it('offers to forget only what that would touch in the place [K2]', async () => {
    const harness = createHarness();
    await harness.say('remember public thing', publicPlace);
    await harness.say('remember private thing', privatePlace);
    await harness.say('remember secret thing', dmPlace);
    expect(await textsOffered(harness, 'forget', '', publicPlace)).toEqual(['public thing']);
    expect(await textsOffered(harness, 'forget', '', privatePlace)).toEqual([
      'private thing',
      'public thing',
    ]);
    for (const { value } of await complete(harness, 'forget', '', privatePlace))
      expect(await harness.say(`forget ${value}`, privatePlace, { ephemeral: true })).toContain(
        'Deprecated 1 item',
      );
  });

  it('offers nothing of other people, for other options, or where items are off or cannot be read', async () => {
    const harness = createHarness();
    await harness.say('remember Likes tea');
    expect(await complete(harness, 'forget', '', dmPlace, bobId)).toEqual([]);
    expect(await complete(harness, 'remember')).toEqual([]);
    harness.durable.list = () => Promise.reject(new StoreError('disk', 'durable.json'));
    expect(await complete(harness, 'forget', 'tea')).toEqual([]);
    expect(await complete(createHarness({ config: { durable: { enabled: false } } }), 'forget')).toEqual([]);
    expect(JSON.stringify(harness.logger)).not.toContain('tea');
  });
});

describe('where an item comes from [K7]', () => {
  it('shows a message of the DM in the DM only, though its item was shared [V2]', async () => {
    const { say, sessionLog, durable } = createHarness();
    const said = {
      id: '400000000000000900',
      text: 'I live in Oslo, since my divorce',
      at: '2026-01-14T10:00:00.000Z',
      attachments: [],
    };
    await sessionLog.recordUser({
      speaker: { id: aliceId, name: 'Alice', isOwner: false },
      place: dmPlace,
      messages: [said],
      now: new Date(said.at),
      hasThirdPartyText: false,
      work: { userId: aliceId },
    });
    const text = 'I live in Oslo';
    const stored = await durable.remember(unconditional(aliceId), {
      text,
      place: dmPlace,
      messageId: said.id,
      type: 'summary',
    });
    if (stored.outcome === 'refused') throw new Error(stored.reason);
    await say(`share ${stored.item.id}`, dmPlace);
    expect(await say(`why ${stored.item.id}`, publicPlace, { ephemeral: true })).toContain('divorce');
    const told = await say(`why ${stored.item.id}`, publicPlace);
    expect(told).toContain('Where: in our DM');
    expect(told).not.toContain('divorce');
  });
});
