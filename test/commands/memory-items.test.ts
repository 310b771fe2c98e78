import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { quoted, withoutFences } from '../../src/commands/answer-lines.ts';
import { StoreError } from '../../src/core/errors.ts';
import type { Place } from '../../src/core/place.ts';
import { unconditional } from '../../src/core/writes.ts';
import { aliceId, bobId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';

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

describe('forget mentions of', () => {
  it('takes in a channel only messages that may be used there [K4] [V2]', async () => {
    const harness = createHarness();
    await tell(harness, '410000000000000001', 'The parser is nearly done', publicPlace);
    await tell(harness, '410000000000000002', 'My parser is secret', dmPlace);
    expect(await harness.say('forget mentions of secret', publicPlace)).toContain('No message');
    await harness.say('forget mentions of parser', publicPlace);
    const found = await harness.say('search parser', dmPlace);
    expect(found).toContain('My parser is secret');
    expect(found).not.toContain('nearly done');
  });

  it('takes reminders too, which undo brings back [RM7]', async () => {
    const harness = createHarness();
    const { reminders, now } = harness;
    const messageId = '410000000000000001';
    await tell(harness, messageId, 'Remind me to feed the axolotl', dmPlace);
    const at = new Date(now().getTime() + 2000);
    const wish = { text: 'feed the axolotl', at, place: dmPlace, messageId };
    await reminders.set(unconditional(aliceId), wish);
    await harness.say('forget mentions of axolotl', dmPlace);
    harness.tick();
    expect(await reminders.due(aliceId)).toEqual([]);
    await harness.say('undo', dmPlace);
    expect(await reminders.due(aliceId)).toMatchObject([{ text: 'feed the axolotl' }]);
  });
});

it('never lets remembered words open a code block, and changes nothing else', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^(?:`{1,7}|\w| ){0,20}$/u), (text) => {
      const shown = withoutFences(text);
      expect(shown).not.toContain('```');
      expect(shown.replaceAll('\u2060', '')).toBe(text);
    }),
  );
  expect(withoutFences('use `code` and ``code``')).toBe('use `code` and ``code``');
  expect(quoted('a ``` b')).not.toContain('```');
});
