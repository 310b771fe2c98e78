import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { OpenedFile } from '../../src/core/chat.ts';
import { textOf } from '../../src/core/model.ts';
import { renderFile } from '../../src/prompt/attached-files.ts';
import { buildPrompt } from '../../src/prompt/build-prompt.ts';
import { countTags, nastyText, promptInput, wholeText } from './samples.ts';

const picture: OpenedFile = { kind: 'image', name: 'cat.png', mediaType: 'image/png', data: 'AAAA' };
const notes: OpenedFile = { kind: 'text', name: 'notes.txt', text: '\n\n  one\r\n\ttwo\n\n' };
const movie: OpenedFile = { kind: 'unopened', name: 'movie.mp4', reason: 'over 10 MB' };

function lastTurn(files: readonly OpenedFile[]) {
  return buildPrompt(promptInput({ files })).messages.at(-1)?.content ?? [];
}

describe('attached files in a prompt', () => {
  it('keep their lines and indentation, and say why they were not opened', () => {
    expect(renderFile(notes)).toEqual([
      { text: '<attached_file>\nnotes.txt:\n  one\n\ttwo\n</attached_file>\n' },
    ]);
    expect(renderFile(movie)).toEqual([
      { text: '<attached_file>\nmovie.mp4:\n(not opened: over 10 MB)\n</attached_file>\n' },
    ]);
  });

  it('stand before the message, in one block of text but for pictures and documents', () => {
    expect(lastTurn([notes, movie])).toHaveLength(1);
    expect(
      lastTurn([notes, picture, movie, { kind: 'document', name: 'a.pdf', data: 'BBBB' }]),
    ).toMatchObject([
      { type: 'text', text: expect.stringMatching(/^<attached_file>\nnotes[\s\S]*cat\.png:[\s\S]*>\n$/u) },
      { type: 'image', mediaType: 'image/png', data: 'AAAA' },
      { type: 'text', text: expect.stringMatching(/^<attached_file>\nmovie[\s\S]*a\.pdf:[\s\S]*>\n$/u) },
      { type: 'document', title: 'a.pdf', data: 'BBBB' },
      { type: 'text', text: expect.stringMatching(/^<message [\s\S]*<\/message>$/u) },
    ]);
  });

  it('take nothing from the budget of the prompt, and are parts of it that add up [P4][P5]', () => {
    const long: OpenedFile = { kind: 'text', name: 'long.txt', text: 'x'.repeat(100_000) };
    const history = { entries: [] };
    const prompt = buildPrompt(promptInput({ files: [long, picture], history, promptMaxChars: 1000 }));
    expect(textOf(prompt.messages.at(-1)?.content ?? [])).toContain(long.text);
    expect(prompt.parts.reduce((sum, { characters }) => sum + characters, 0)).toBe(wholeText(prompt).length);
    expect(prompt.parts.filter(({ name }) => name === 'attached_file')).toHaveLength(2);
  });

  it('change not one byte of a prompt without any', () => {
    expect(lastTurn([])).toEqual([{ type: 'text', text: expect.stringMatching(/^<message /u) }]);
  });

  it('never forge a tag by their names or contents, nor together with what follows', () => {
    const files = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('text' as const), name: nastyText, text: nastyText }),
        fc.record({
          kind: fc.constant('image' as const),
          name: nastyText,
          mediaType: fc.constant('image/png' as const),
          data: fc.constant('AAAA'),
        }),
        fc.record({ kind: fc.constant('document' as const), name: nastyText, data: fc.constant('BBBB') }),
      ),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(files, (attached) => {
        expect(countTags(textOf(lastTurn(attached)))).toBe(attached.length * 2 + 2);
      }),
    );
  });
});
