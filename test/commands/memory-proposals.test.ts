import { describe, expect, it } from 'vitest';

import type { Place } from '../../src/core/place.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { createHarness, dmPlace, privatePlace } from './harness.ts';
import { unconditional } from '../../src/core/writes.ts';

/** Alice is asked first, and something of hers was noticed; resolves with its proposal's id. */
async function noticing(
  { people, proposals }: ReturnType<typeof createHarness>,
  text: string,
  { place = publicPlace, replaces }: { readonly place?: Place; readonly replaces?: string } = {},
): Promise<string> {
  await people.set(unconditional(aliceId), { mode: 'ask' });
  // Of one message three are asked about at most.
  const { length } = await proposals.list(aliceId);
  const messageId = `40000000000000000${length}`;
  const found = {
    text,
    place,
    messageId,
    type: 'summary',
    ...(replaces !== undefined && { replaces }),
  } as const;
  const outcome = await proposals.remember(unconditional(aliceId), found);
  if (outcome.outcome !== 'proposed') throw new Error(`Not proposed: ${JSON.stringify(outcome)}`);
  return outcome.proposed.id;
}

describe('a yes to a proposal [K9]', () => {
  it('stores what was proposed as it would have been, and is undone as one change, after which it waits again', async () => {
    const harness = createHarness();
    const id = await noticing(harness, 'Keeps bees');
    expect(await harness.say(`accept ${id}`)).toMatch(/^Remembered: "Keeps bees" · id \w+ · server$/u);
    expect(await harness.durable.list(aliceId)).toMatchObject([
      {
        text: 'Keeps bees',
        visibility: 'server',
        source: { type: 'summary', messageId: '400000000000000000' },
      },
    ]);
    expect(await harness.say('undo')).toBe('Undone: the `accept`.');
    expect(await harness.durable.list(aliceId)).toEqual([]);
    expect(await harness.say('proposals')).toMatch(/^1 proposal/u);
    expect(await harness.say(`accept ${id}`)).toMatch(/^Remembered: "Keeps bees"/u);
  });

  it('is given by `remember` with the same text, and by an edit to it: then it says that this is known', async () => {
    const harness = createHarness();
    await noticing(harness, 'Keeps bees');
    await harness.say('remember Keeps bees.');
    expect(await harness.say('proposals')).toMatch(/^No proposals/u);
    const known = await noticing(harness, 'Likes tea');
    await harness.say(`edit ${await harness.idOf('Keeps bees.')} Likes tea`);
    expect(await harness.say(`accept ${known}`)).toMatch(/^I remembered that already: "Likes tea"/u);
    expect(await harness.say('proposals')).toMatch(/^No proposals/u);
  });

  it('stores nothing in a pause, and the question waits', async () => {
    const harness = createHarness();
    const id = await noticing(harness, 'Keeps bees');
    await harness.say('pause');
    expect(await harness.say(`accept ${id}`)).toMatch(/^Your memory is paused here/u);
    expect(await harness.say(`accept ${id} Keeps wasps`)).toMatch(/^Your memory is paused here/u);
    expect(await harness.durable.list(aliceId)).toEqual([]);
    await harness.say('resume');
    expect(await harness.say(`accept ${id}`)).toMatch(/^Remembered: "Keeps bees"/u);
  });

  it('in other words makes it no wider than it was said, and the question waits where these cannot be stored', async () => {
    const harness = createHarness();
    const id = await noticing(harness, 'Keeps bees', { place: dmPlace });
    const inPublic = { ephemeral: true } as const;
    expect(await harness.say(`accept ${id} ${'x'.repeat(501)}`, publicPlace, inPublic)).toMatch(
      /too long.*still waits/u,
    );
    expect(await harness.say(`accept ${id} my password is Tr0ub4dor&3`, publicPlace, inPublic)).toMatch(
      /secret.*still waits/u,
    );
    const done = await harness.say(`accept ${id} Keeps two hives`, publicPlace, inPublic);
    expect(done).toMatch(/^Remembered: "Keeps two hives" · id \w+ · dm$/u);
    expect(await harness.durable.list(aliceId)).toMatchObject([
      { visibility: 'dm', source: { type: 'manual' } },
    ]);
    const wide = await noticing(harness, 'Keeps wasps');
    expect(await harness.say(`accept ${wide} Keeps hornets`, privatePlace)).toMatch(/ · here$/u);
    const ants = await noticing(harness, 'Keeps ants');
    expect(await harness.say(`accept ${ants} Keeps red ants`, publicPlace)).toMatch(/ · server$/u);
    const inOtherServer = { ...publicPlace, channelId: '200000000000000005', homeId: '200000000000000005' };
    const other = { ...inOtherServer, guildId: '300000000000000009' };
    const moths = await noticing(harness, 'Keeps moths');
    expect(await harness.say(`accept ${moths} Keeps hawk moths`, other, inPublic)).toMatch(/ · dm$/u);
  });

  it('names nothing where it may not be used', async () => {
    const harness = createHarness();
    const id = await noticing(harness, 'Keeps bees', { place: dmPlace });
    expect(await harness.say('proposals')).not.toContain('bees');
    expect(await harness.say('review')).toBe(
      'Nothing to review.\nWhat waits for your yes: `!memory proposals` (1).',
    );
    expect(await harness.say(`proposals ${id}`)).not.toContain('bees');
    expect(await harness.say(`accept ${id}`)).toBe('Remembered.');
    expect(await harness.say('review')).toBe('Nothing to review.');
  });
});

describe('what was noticed [K9]', () => {
  it('is listed with buttons for the first six, which the next take the place of', async () => {
    const harness = createHarness();
    for (let count = 1; count <= 8; count += 1) await noticing(harness, `Keeps ${count} bees`);
    const first = await harness.give('proposals');
    expect(first.text).toContain('8. - [fact] Keeps 8 bees');
    expect(first.text).toContain('The buttons are for the first 6');
    expect(first.buttons?.map(({ label }) => label).slice(-3)).toEqual(['✅ 6', '✏️ 6', '❌ 6']);
    for (const { line = '' } of first.buttons?.filter(({ label }) => label.startsWith('❌')) ?? [])
      await harness.say(line.replace(/^memory /u, ''));
    const rest = await harness.give('proposals');
    expect(rest.buttons).toHaveLength(6);
    const form = (await harness.give(rest.buttons?.[1]?.line?.replace(/^memory /u, '') ?? '')).form;
    expect(form).toMatchObject({ value: 'Keeps 7 bees', maxChars: 500 });
  });
});
