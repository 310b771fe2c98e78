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
});

/** What is marked `(earlier)` of two things said of one matter. */
async function earlierOf(query: string, texts: readonly string[]): Promise<readonly string[]> {
  const { search } = await said([...texts, 'The weather is nice']);
  const found = await search(query, { limit: 10 });
  return found.filter(({ date }) => date.includes('(earlier)')).map(({ unit }) => unit.text);
}

/** An older statement, a newer one of the same matter, and what is asked. */
const changed: readonly (readonly [older: string, newer: string, query: string])[] = [
  ['I live in Lisbon', 'I live in Porto now', 'where do I live'],
  ['My favourite colour is blue', 'My favourite colour is green', 'favourite colour'],
  ['The meeting is on Monday at ten', 'The meeting is on Friday at noon instead', 'when is the meeting'],
  ['I live in Lisbon', 'Did I say? I live in Porto now', 'where do I live'],
  ['Ich wohne in Hamburg', 'Ich wohne jetzt in Bremen', 'wo wohne ich'],
  ['J’habite à Lyon', 'J’habite à Nantes maintenant', 'où est-ce que j’habite'],
  ['Vivo en Madrid', 'Ahora vivo en Sevilla', 'dónde vivo'],
  ['Я живу в Москве', 'Теперь я живу в Казани', 'где я живу'],
  ['I work at Acme', 'I work for Globex now', 'where do I work'],
  ['我住在北京', '我现在住在上海', '我住在哪里'],
  ['서울에 살아요', '지금은 부산에 살아요', '어디에 살아요'],
];

/** Statements that hold beside each other. */
const both: readonly (readonly [string, string, string])[] = [
  ['I like tea', 'I like coffee', 'what do I like'],
  ['I work at Acme', 'I live in Porto', 'where do I live and work'],
  ['My brother lives in Porto', 'I live in Lisbon', 'who lives where'],
  ['The meeting is on Monday', 'The party is on Friday', 'what is on Monday or Friday'],
  ['I live in Lisbon', 'Do I live in Porto?', 'live'],
  ['I live in Lisbon', 'I lived in Rome as a child', 'where did I live'],
  ['I visited Rome', 'I visited Paris', 'which cities have I visited'],
  ['My favourite colour is blue', 'My favourite film is Alien', 'favourite'],
];

describe('an older statement of a fact that has changed [C3]', () => {
  it.each(changed)('%j gives way to %j', async (before, after, query) => {
    expect(await earlierOf(query, [before, after])).toEqual([before]);
  });

  it.each(both)('%j holds beside %j', async (one, other, query) => {
    expect(await earlierOf(query, [one, other])).toEqual([]);
  });
});
