import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { splitReply, visiblePart } from '../../../src/discord/replies/split-reply.ts';
import { markdown, read } from '../support/markdown.ts';

describe('splitReply', () => {
  it('prefers a paragraph, then a line, then a sentence, then a word', () => {
    expect(splitReply(`${'a'.repeat(30)}\n\n${'b'.repeat(10)}\n${'b'.repeat(10)}`, 50)).toEqual([
      'a'.repeat(30),
      `${'b'.repeat(10)}\n${'b'.repeat(10)}`,
    ]);
    expect(splitReply(`${'a'.repeat(30)}\n${'b'.repeat(30)}`, 50)).toEqual(['a'.repeat(30), 'b'.repeat(30)]);
    expect(splitReply(`This is the first sentence of two. This is the second`, 40)).toEqual([
      'This is the first sentence of two.',
      'This is the second',
    ]);
    expect(splitReply('one two three four five six seven eight nine ten', 40)).toEqual([
      'one two three four five six seven eight',
      'nine ten',
    ]);
  });

  it('closes a fence at the cut and opens it again with its language', () => {
    const code = Array.from({ length: 6 }, (_, index) => `line number ${index}`).join('\n');
    expect(splitReply(`~~~~js\n${code}\n~~~~`, 60)).toEqual([
      '~~~~js\nline number 0\nline number 1\nline number 2\n~~~~',
      '~~~~js\nline number 3\nline number 4\nline number 5\n~~~~',
    ]);
  });

  it('never makes a chunk that is too long, blank or unbalanced, and never loses a character', () => {
    fc.assert(
      fc.property(markdown, fc.integer({ min: 40, max: 400 }), (text, max) => {
        const chunks = splitReply(text, max);
        for (const chunk of chunks) {
          expect(chunk.length).toBeLessThanOrEqual(max);
          expect(chunk.trim()).not.toBe('');
          expect(read(chunk).isBalanced).toBe(true);
          expect(chunk).not.toMatch(/\p{Cs}/u);
        }
        expect(chunks.map((chunk) => read(chunk).content).join('')).toBe(read(text).content);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('what can be shown of a growing text', () => {
  it.each(['`', '``', '```', '```typ', '  ```js', '~', '~~~', '~~~py'])(
    'leaves out a last line that may become a fence: %s',
    (line) => {
      expect(visiblePart(`Look:\n${line}`)).toBe('Look:\n');
    },
  );

  it.each(['`code` is', '```x``` is inline', '~~gone~~', 'a ``', '```js\n', 'plain'])(
    'holds back nothing that is decided: %s',
    (text) => {
      expect(visiblePart(text)).toBe(text);
    },
  );

  it('leaves out half a character', () => {
    expect(visiblePart('Hi 👋'.slice(0, -1))).toBe('Hi ');
  });
});
