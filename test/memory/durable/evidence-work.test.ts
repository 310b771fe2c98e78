import { expect, it } from 'vitest';

import { questionAtEnd, sentencesQuoted, stillSays } from '../../../src/memory/durable/evidence.ts';
import { isWorthKeeping } from '../../../src/memory/durable/extraction.ts';
import { ofTheDay } from '../../support/runs.ts';
import { manyShapes, shaped } from '../../support/shapes.ts';
import { readsAtMost } from '../../support/work.ts';

/** Of each character, at most: of a dozen readings of the message each has dozens of expressions. */
const readsOfCharacter = 1000;

it.each([4000])('a message of %i characters of any shape, quoted whole, is read a fixed number of times [L4]', (size) => {
  expect(manyShapes.length).toBeGreaterThan(200);
  const tooMuch = ofTheDay(manyShapes, 40).flatMap((shape) => {
    const text = shaped(shape, size);
    const quotes = [text, text.slice(0, 400), `${text.slice(0, size / 2)} q`];
    const isLinear = readsAtMost(readsOfCharacter * size, () => {
      for (const quote of quotes) {
        const taken = sentencesQuoted(quote, text) ?? quote;
        stillSays(taken, text);
        stillSays(`${taken} q`, text);
        stillSays(taken.slice(0, 500), text);
      }
      questionAtEnd(text);
      isWorthKeeping(text.slice(0, 500), { message: text, isAnswer: false, saidAt: new Date(0), timeZone: 'UTC' });
    });
    return isLinear ? [] : [shape];
  });
  expect(tooMuch).toEqual([]);
}); // prettier-ignore
