import { describe, expect, it } from 'vitest';

import { unconditional } from '../../src/core/writes.ts';
import { dmPlace } from '../commands/harness.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { alice, openPage } from './page-harness.ts';

const back = { back: '/review' };

async function openReview() {
  const place = await openPage();
  const browser = await place.browserOf(alice);
  const { harness } = place;
  return {
    browser,
    harness,
    list: async () => (await harness.durable.list(aliceId)).map(({ text }) => text),
    /** Something that waits for a yes; resolves with its id. */
    notice: async (text: string): Promise<string> => {
      await harness.people.set(unconditional(aliceId), { mode: 'ask' });
      const found = { text, place: publicPlace, messageId: '400000000000000000', type: 'summary' } as const;
      const outcome = await harness.proposals.remember(unconditional(aliceId), found);
      if (outcome.outcome !== 'proposed') throw new Error(`Not proposed: ${outcome.outcome}`);
      return outcome.proposed.id;
    },
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

describe('the page of what waits [Y2]', () => {
  it('shows all cards of the review at once, and an answer leaves the others [K16]', async () => {
    await using opened = await openReview();
    const { browser, harness, list } = opened;
    for (const text of ['I live in Porto', 'I live in Lisbon', 'My exam is on 2025-12-01'])
      await harness.say(`remember ${text}`, dmPlace);
    const first = await browser.text('/review');
    expect(first.match(/<article/gu)).toHaveLength(2);
    const lines = [...first.matchAll(/name="line"\s+value="([^"]+)"/gu)].map(([, line = '']) => line);
    const answerTo = (answer: string) =>
      lines.find((line) => line.startsWith(`memory review ${answer}`))?.slice('memory '.length) ?? '';
    const asking = await browser.give(answerTo('changed'), back);
    expect(asking).toContain('My exam is on 2025-12-01</textarea>');
    const changed = await browser.give(answerTo('changed'), { text: 'I passed my exam', ...back });
    expect(changed).toContain('I passed my exam');
    expect(changed).toContain('>Undo</button>');
    expect(changed.match(/<article/gu)).toHaveLength(1);
    await browser.give(answerTo('keep'), back);
    expect(await list()).toEqual(expect.arrayContaining(['I live in Lisbon', 'I passed my exam']));
    expect(await list()).toHaveLength(2);
    expect(await browser.text('/review')).toContain('>Nothing to review.</p>');
  });

  it('shows proposals, which are accepted, put into other words or declined; nothing is stored before [K9]', async () => {
    await using opened = await openReview();
    const { browser, list, notice } = opened;
    const [bees, tea, hens] = [
      await notice('Keeps bees'),
      await notice('Likes green tea'),
      await notice('Has three hens'),
    ];
    const page = await browser.text('/review');
    expect(page.match(/May I remember this\?/gu)).toHaveLength(3);
    expect(await list()).toEqual([]);
    expect(await browser.give(`accept ${bees}`, back)).toContain('Keeps bees');
    await browser.give(`accept ${tea}`, { text: 'Likes white tea', ...back });
    const last = await browser.give(`decline ${hens}`, back);
    expect(last).toContain('Not remembered.');
    expect(last).toContain('>Nothing to review.</p>');
    expect((await list()).toSorted()).toEqual(['Keeps bees', 'Likes white tea']);
    expect(await browser.give(`accept ${hens}`, back)).toContain('There is no proposal');
  });
});
