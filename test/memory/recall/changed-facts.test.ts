import { describe, expect, it } from 'vitest';

import { dmPlace } from '../../support/sessions.ts';
import { openRecall } from './open-recall.ts';

const day = 24 * 60 * 60 * 1000;

/** What is said, a week apart, and what is marked `(earlier)` of two things said of one matter. */
async function earlierOf(query: string, texts: readonly string[]): Promise<readonly string[]> {
  const opened = openRecall();
  for (const text of texts) {
    await opened.say(text, dmPlace);
    opened.time.now += 7 * day;
  }
  const found = await opened.search(query, { limit: 10 });
  return found.filter(({ date }) => date.includes('(earlier)')).map(({ unit }) => unit.text);
}

/** An older statement, a newer one of the same matter, and what is asked. */
const changed: readonly (readonly [older: string, newer: string, query: string])[] = [
  ['I work at Acme', 'I work at Globex now', 'where do I work'],
  ['I work as a nurse in the city hospital', 'My job: I work as a teacher now', 'what do I work as'],
  ['I live in Lisbon', 'I live in Porto now', 'where do I live'],
  ['My phone number is 555 0101', 'My phone number is 555 0199', 'phone number'],
  ['My favourite colour is blue', 'My favourite colour is green', 'favourite colour'],
  ['The meeting is on Monday', 'The meeting is on Friday', 'when is the meeting'],
  ['The meeting is on 24.01.2026', 'The meeting is on 31.01.2026', 'when is the meeting'],
  ['The meeting is on Monday at ten', 'The meeting is on Friday at noon instead', 'when is the meeting'],
  ['I live in Lisbon', 'Did I say? I live in Porto now', 'where do I live'],
  ['Ich wohne in Hamburg', 'Ich wohne jetzt in Bremen', 'wo wohne ich'],
  ['Mein Lieblingsfilm ist Alien', 'Mein Lieblingsfilm ist jetzt Brazil', 'Lieblingsfilm'],
  ['J’habite à Lyon', 'J’habite à Nantes maintenant', 'où est-ce que j’habite'],
  ['Vivo en Madrid', 'Ahora vivo en Sevilla', 'dónde vivo'],
  ['Я живу в Москве', 'Теперь я живу в Казани', 'где я живу'],
  ['I work at Acme', 'I work for Globex now', 'where do I work'],
  ['Moro em Lisboa', 'Agora moro no Porto', 'onde moro em Portugal'],
  ['我住在北京', '我现在住在上海', '我住在哪里'],
  ['서울에 살아요', '지금은 부산에 살아요', '어디에 살아요'],
];

/** Statements that hold beside each other. */
const both: readonly (readonly [string, string, string])[] = [
  ['I like tea', 'I like coffee', 'what do I like'],
  ['I have a cat', 'I have a dog', 'what pets do I have'],
  ['I work at Acme', 'I live in Porto', 'where do I live and work'],
  ['I work at Acme', 'I work hard', 'work'],
  ['My brother lives in Porto', 'I live in Lisbon', 'who lives where'],
  ['My phone is broken', 'My phone number is 555 0101', 'phone'],
  ['The meeting is on Monday', 'The party is on Friday', 'what is on Monday or Friday'],
  ['I live in Lisbon', 'Do I live in Porto?', 'live'],
  ['I live in Lisbon', 'I lived in Rome as a child', 'where did I live'],
  ['I work at Acme', 'I worked at Globex before', 'where did I work'],
  ['I love my cat', 'My cat is called Minka', 'cat'],
  ['I visited Rome', 'I visited Paris', 'which cities have I visited'],
  ['I play the guitar', 'I play chess', 'what do I play'],
  ['My favourite colour is blue', 'My favourite film is Alien', 'favourite'],
];

describe('an older statement of a fact that has changed [C3]', () => {
  it.each(changed)('%j gives way to %j', async (older, newer, query) => {
    expect(await earlierOf(query, [older, newer, 'The weather is nice'])).toEqual([older]);
  });

  it.each(both)('%j holds beside %j', async (one, other, query) => {
    expect(await earlierOf(query, [one, other, 'The weather is nice'])).toEqual([]);
  });
});
