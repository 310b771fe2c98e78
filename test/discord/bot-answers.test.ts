import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { BotAnswers } from '../../src/discord/bot-answers.ts';

function message(id: string, authorId = 'robot', channelId = 'general') {
  return { id, authorId, channelId };
}

describe('another bot', () => {
  it('is answered five times in a row, then told of once, then not at all until a person speaks', () => {
    const answers = new BotAnswers();
    const admitted = ['1', '2', '3', '4', '5', '6', '7'].map((id) => answers.admit(message(id)));
    expect(admitted).toEqual(['answer', 'answer', 'answer', 'answer', 'answer', 'last-straw', 'silence']);
    answers.humanSpoke('dev');
    expect(answers.admit(message('8'))).toBe('silence');
    answers.humanSpoke('general');
    expect(answers.admit(message('9'))).toBe('answer');
  });

  it('counts by itself, in each channel, and once for a message that Discord tells of twice', () => {
    const answers = new BotAnswers();
    for (const id of ['1', '2', '3', '4', '5', '5', '1']) expect(answers.admit(message(id))).toBe('answer');
    expect(answers.admit(message('6', 'other robot'))).toBe('answer');
    expect(answers.admit(message('7', 'robot', 'dev'))).toBe('answer');
    expect(answers.admit(message('8'))).toBe('last-straw');
  });

  it('never gets more than five answers between two words of a person', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('robot', 'person', 'other robot'), { maxLength: 60 }),
        (speakers) => {
          const answers = new BotAnswers();
          let inARow = 0;
          for (const [index, speaker] of speakers.entries()) {
            if (speaker === 'person') {
              answers.humanSpoke('general');
              inARow = 0;
            } else if (answers.admit(message(String(index), speaker)) === 'answer' && speaker === 'robot') {
              inARow += 1;
            }
            expect(inARow).toBeLessThanOrEqual(5);
          }
        },
      ),
    );
  });
});
