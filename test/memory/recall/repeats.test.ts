import { expect, it } from 'vitest';

import { openRecall } from './open-recall.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const fact = 'I keep the spare key under the blue flower pot';
const question = 'Where do I keep the spare key?';

/** What is said again and again, with what is answered. */
const kinds: Readonly<Record<string, (round: number) => readonly [string, string]>> = {
  'a question that is answered alike': () => [question, 'I do not know where you keep the spare key.'],
  'a question with other case and signs': (round) => [
    `${round % 2 === 0 ? question.toUpperCase() : question}${'?'.repeat(round % 5)}`,
    'No idea where the spare key is.',
  ],
  'an answer that only counts up': (round) => [
    `What about key ${round}?`,
    `The spare key ${round}: I do not know where you keep the spare key.`,
  ],
};

it.each(Object.entries(kinds))(
  '%s, however often, does not push what answers out of the first places [C1]',
  async (_kind, said) => {
    const { turn, find, time } = openRecall();
    for (const text of ['The weather is nice', fact, 'Dinner was great']) {
      await turn(text, 'Noted.');
      time.now += 10 * minute;
    }
    for (let round = 0; round < 24; round += 1) {
      time.now += day;
      await turn(...said(round));
    }
    expect((await find(question, { limit: 10 })).slice(0, 3)).toContain(fact);
  },
);

it('a question in nearly the same words, 300 times, leaves a place to what answers it in other words [C1]', async () => {
  const opened = openRecall();
  const hard = 'Dr. Okonkwo looks after Rex when he is ill';
  const ask = 'Which vet do we go to with Rex?';
  const again = ['', 'Hey, ', 'Sorry, ', 'Please: ', 'Once more: ', 'So ', 'Hm, ', 'OK, '];
  for (const text of [hard, 'Rex ate my shoes', 'We go to Porto in May', 'I go to bed at ten']) {
    await opened.turn(text, 'Fine.');
    opened.time.now += day;
  }
  for (let round = 0; round < 300; round += 1) {
    opened.time.now += minute;
    const unknown = `I do not know which vet you go to with Rex${'.'.repeat(1 + (round % 3))}`;
    await opened.turn(`${again[round % again.length] ?? ''}${ask}`, unknown);
  }
  expect(await opened.find(ask, { limit: 8 })).toContain(hard);
});
