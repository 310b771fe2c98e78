import { describe, expect, it } from 'vitest';

import { dmPlace } from '../../support/sessions.ts';
import { openRecall } from './open-recall.ts';

const day = 24 * 60 * 60 * 1000;

/** Alice says texts, a week between one and the next. */
async function said(texts: readonly string[]) {
  const opened = openRecall();
  for (const text of texts) {
    await opened.say(text, dmPlace);
    opened.time.now += 7 * day;
  }
  const contents = async (query: string) =>
    (await opened.search(query)).map(({ date, content }) => `[${date}] ${content}`);
  return { ...opened, contents };
}

const flat = ['I live in a flat in Hamburg', 'I live in a flat in Bremen', 'I saw a flat tyre on the road'];
const older = '[2026-01-15 (earlier)] Alice: I live in a flat in Hamburg';
const newer = '[2026-01-22] Alice: I live in a flat in Bremen';

describe('of two statements about the same thing [C3]', () => {
  it('the older is marked, and keeps its place', async () => {
    const { contents } = await said(flat);
    const found = await contents('flat in Hamburg live');
    expect(found.filter((content) => content.includes('live'))).toEqual([older, newer]);
  });

  it("what shares too little, asks, or is the bot's is left as it is", async () => {
    const { contents, turn } = await said([
      'The parrot eats nuts, apples and seeds in the morning',
      'The parrot is called Kiwi',
      'Is the parrot called Kiwi?',
    ]);
    await turn('Good', 'The parrot is called Kiwi');
    const found = await contents('parrot');
    expect(found).toHaveLength(4);
    expect(found.join(' ')).not.toContain('(earlier)');
  });

  it('all but the newest of several are marked', async () => {
    const { contents } = await said([
      'My weight is 80 kilos',
      'My weight is 78 kilos',
      'My weight is 76 kilos',
    ]);
    expect(await contents('weight')).toEqual([
      '[2026-01-29] Alice: My weight is 76 kilos',
      '[2026-01-22 (earlier)] Alice: My weight is 78 kilos',
      '[2026-01-15 (earlier)] Alice: My weight is 80 kilos',
    ]);
  });
});
