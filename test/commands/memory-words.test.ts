import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { withoutMentionMarks } from '../../src/core/own-words.ts';
import { parseWords } from '../../src/commands/memory-words.ts';

describe('reading the words of a command', () => {
  it.each([
    ['show', { command: 'show' }],
    ['SHOW me everything', { command: 'show' }],
    ['remember  I like  tea ', { command: 'remember', text: 'I like  tea' }],
    ['Remember two\nlines', { command: 'remember', text: 'two\nlines' }],
    ['remember', { command: 'remember', text: '' }],
    ['forget Acme Corp', { command: 'forget', target: 'Acme Corp' }],
    ['forget a.*b(', { command: 'forget', target: 'a.*b(' }],
    ['remember met @\u2068Bob Jones\u2069', { command: 'remember', text: 'met @Bob Jones' }],
    ['reset Rolling', { command: 'reset', layer: 'rolling' }],
    ['share 1a2b3c4d', { command: 'share', id: '1a2b3c4d' }],
    ['hide 1a2b3c4d', { command: 'hide', id: '1a2b3c4d' }],
    ['help', { command: 'help' }],
    ['', { command: 'help' }],
  ])('understands %j', (words, expected) => {
    expect(parseWords(words)).toEqual(expected);
  });

  it.each(['forget', 'forget   ', 'reset', 'reset everything', 'share', 'hide 1 2', 'dance', 'constructor'])(
    'answers %j with help that says why',
    (words) => {
      const parsed = parseWords(words);
      expect(parsed.command).toBe('help');
      expect(parsed).toHaveProperty('reason');
    },
  );

  it('names an unknown command in one line, however it is written', () => {
    expect(parseWords('d\u0007ance now')).toMatchObject({ reason: `I don't know the command "d ance".` });
  });

  it('never changes what is to be remembered or forgotten, but for white space around it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }).map(withoutMentionMarks), (text) => {
        expect(parseWords(`remember ${text}`)).toEqual({ command: 'remember', text: text.trim() });
        expect(parseWords(`forget x${text}`)).toEqual({ command: 'forget', target: `x${text}`.trim() });
      }),
    );
  });
});
