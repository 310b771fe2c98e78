import { describe, expect, it } from 'vitest';

import { dmPlace } from '../../support/sessions.ts';
import { openRecall } from './open-recall.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
const fact = 'I keep the spare key under the blue flower pot';
const question = 'Where do I keep the spare key?';

/** Chatter about other things, a fact, and then the same thing again and again, `apart` milliseconds between one and the next. */
async function repeated(said: (round: number) => readonly [string, string?], apart: number, times = 24) {
  const opened = openRecall();
  for (const text of [
    'The weather is nice',
    'My bike has a flat tyre',
    fact,
    'Dinner was great',
    'Bought new shoes',
  ]) {
    await opened.turn(text, 'Noted.');
    opened.time.now += 10 * minute;
  }
  opened.time.now += day;
  for (let round = 0; round < times; round += 1) {
    const [text, answer] = said(round);
    if (answer === undefined) await opened.say(text, dmPlace);
    else await opened.turn(text, answer);
    opened.time.now += apart;
  }
  return opened;
}

const otherWords = [
  'Do you know where my spare key is?',
  'spare key where?',
  'Remind me about the spare key please',
  'spare key',
];

const kinds: Readonly<Record<string, (round: number) => readonly [string, string?]>> = {
  'a question': () => [question],
  'a question that is answered alike': () => [question, 'I do not know where you keep the spare key.'],
  'a question with other case and signs': (round) => [
    `${round % 2 === 0 ? question.toUpperCase() : question}${'?'.repeat(round % 5)}`,
    'No idea where the spare key is.',
  ],
  'a statement': () => ['I lost the spare key that I keep somewhere'],
  'an answer in nearly the same words': (round) => [
    `What about key ${round}?`,
    `The spare key ${round}: I do not know where you keep the spare key.`,
  ],
};

/** What is asked again and again, with a fact that answers it in other words, beside others that say the same words. */
const hard = { fact: 'Dr. Okonkwo looks after Rex when he is ill', ask: 'Which vet do we go to with Rex?' };
const again = ['', 'Hey, ', 'Sorry, ', 'Please: ', 'Once more: ', 'So ', 'Hm, ', 'OK, '];

describe.each([
  ['at once', minute],
  ['a day apart', day],
] as const)('repeated %s', (_when, apart) => {
  it.each(Object.entries(kinds))(
    '%s does not push what answers out of the first places',
    async (_kind, said) => {
      const { find } = await repeated(said, apart);
      const found = await find(question, { limit: 10 });
      expect(found.slice(0, 3)).toContain(fact);
      const others = found.filter((text) => text !== fact && /spare key/iu.test(text));
      expect(others.length).toBeLessThanOrEqual(said(0)[0].includes('What about') ? 8 : 4);
    },
  );

  it('answers that only count up leave a place to what answers, in whatever words it is asked', async () => {
    const { find } = await repeated(
      (round) => [
        otherWords[round % 4] ?? question,
        `Sorry (${round}), I could not find where you keep the spare key.`,
      ],
      apart,
    );
    for (const query of otherWords) expect(await find(query, { limit: 10 })).toContain(fact);
  });

  it.each([24, 300])(
    '%d times, a question leaves a place to what answers it in other words',
    async (times) => {
      const opened = openRecall();
      await opened.turn(hard.fact, 'Noted.');
      for (const text of ['Rex ate my shoes', 'We go to Porto in May', 'I go to bed at ten']) {
        opened.time.now += day;
        await opened.turn(text, 'Fine.');
      }
      for (let round = 0; round < times; round += 1) {
        opened.time.now += apart;
        await opened.turn(
          `${again[round % again.length] ?? ''}${hard.ask}`,
          `I do not know which vet you go to with Rex${'.'.repeat(1 + (round % 3))}`,
        );
      }
      expect(await opened.find(hard.ask, { limit: 8 })).toContain(hard.fact);
    },
  );
});
