import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { splitReply } from '../../../src/discord/replies/split-reply.ts';

/** What a reader of Markdown, who knows nothing of the splitter, makes of a text. */
function read(text: string): { isBalanced: boolean; content: string } {
  let open = '';
  let content = '';
  for (const line of text.split('\n')) {
    const marker = /^[ \t]*(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
    const after = line.trim().slice(marker.length);
    if (open === '' && marker !== '' && !(marker.startsWith('`') && after.includes('`'))) open = marker;
    else if (open !== '' && marker.startsWith(open) && after === '') open = '';
    else content += line.replaceAll(/\s/gu, '');
  }
  return { isBalanced: open === '', content };
}

const word = fc.oneof(
  fc.stringMatching(/^[a-z]{1,12}$/),
  fc.constantFrom(
    'naïve',
    '日本語',
    '👩‍👩‍👧',
    'Ω',
    '`code`',
    '**bold**',
    '<@123>',
    '$&',
    '—',
    '```inline```',
    '# no title',
  ),
);
const sentence = fc
  .tuple(fc.array(word, { minLength: 1, maxLength: 14 }), fc.constantFrom('.', '!', '?', '。', ''))
  .map(([words, end]) => words.join(' ') + end);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 5 }).map((sentences) => sentences.join(' '));
const codeLine = fc.oneof(
  fc
    .string({ unit: 'grapheme', maxLength: 60 })
    .map((text) => text.replaceAll(/[\r\n\u2028\u2029\v\f\u0085]/gu, '')),
  fc.constantFrom('', '    indented', '\tif (x) {', '`', '~~', 'x '.repeat(200), 'y'.repeat(300)),
);
const fenceBlock = fc
  .record({
    mark: fc.constantFrom('`', '~'),
    length: fc.integer({ min: 3, max: 5 }),
    language: fc.constantFrom('', 'js', 'typescript', ' c++'),
    indent: fc.constantFrom('', '  '),
    lines: fc.array(codeLine, { maxLength: 12 }),
    isClosed: fc.boolean(),
  })
  .map(({ mark, length, language, indent, lines, isClosed }) => {
    const marker = mark.repeat(length);
    return [`${indent}${marker}${language}`, ...lines, ...(isClosed ? [indent + marker] : [])].join('\n');
  });
const markdown = fc
  .array(
    fc.oneof(
      paragraph,
      fenceBlock,
      word.map((text) => text.repeat(60)),
    ),
    { maxLength: 6 },
  )
  .chain((blocks) => fc.constantFrom('\n', '\n\n', '\n \n\n').map((glue) => blocks.join(glue)));

describe('splitReply', () => {
  it('leaves a short reply as it is', () => {
    expect(splitReply('Hello **there**.\n\n```js\nx()\n```')).toEqual([
      'Hello **there**.\n\n```js\nx()\n```',
    ]);
  });

  it('makes nothing of a blank reply', () => {
    expect(splitReply('')).toEqual([]);
    expect(splitReply(' \n\n\t'.repeat(900))).toEqual([]);
  });

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

  it('keeps the indentation of the code that the next chunk begins with', () => {
    const chunks = splitReply(`\`\`\`py\n${'def f():\n        pass\n'.repeat(6)}\`\`\``, 60);
    expect(chunks.length).toBeGreaterThan(2);
    expect(chunks.join('\n')).not.toMatch(/^ {0,7}pass/mu);
  });

  it('closes a fence that the reply left open', () => {
    expect(splitReply('```js\nx()')).toEqual(['```js\nx()\n```']);
  });

  it('does not take a line inside a longer fence for its end', () => {
    const text = `\`\`\`\`md\n${'```js\ny()\n```\n'.repeat(8)}\`\`\`\``;
    for (const chunk of splitReply(text, 60)) expect(chunk).toMatch(/^````md\n[^]*\n````$/u);
  });

  it('splits a long line of code, and leaves no piece of it looking like the end of the fence', () => {
    const chunks = splitReply(`\`\`\`\n${'z'.repeat(92)}\`\`\`\nmore\n\`\`\``, 100);
    expect(chunks.map(read).every(({ isBalanced }) => isBalanced)).toBe(true);
    expect(chunks.map((chunk) => read(chunk).content).join('')).toBe(`${'z'.repeat(92)}\`\`\`more`);
  });

  it('splits 100,000 characters without a space, and quickly', () => {
    const chunks = splitReply('x'.repeat(100_000));
    expect(chunks).toHaveLength(50);
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
