import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { OpenedFile, RepliedMessage } from '../../src/core/message.ts';
import { textOf } from '../../src/core/model.ts';
import { renderSection } from '../../src/core/section.ts';
import { buildPrompt } from '../../src/prompt/build-prompt.ts';
import {
  forwardedSection,
  label,
  quoted,
  renderFile,
  renderMessage,
  repliedSection,
  type PromptMessage,
} from '../../src/prompt/quoted.ts';
import { plainName } from '../../src/prompt/history.ts';
import {
  chatMessage,
  countTags,
  nastyText,
  otherBotMessage,
  ownMessage,
  promptInput,
  publicPlace,
  wholeText,
} from './samples.ts';

function said(text: string, changes: Partial<PromptMessage> = {}): PromptMessage {
  return {
    ...promptInput().message,
    messages: [{ id: '100000000000000001', text, at: '2026-01-15T12:00:00.000Z', attachments: [] }],
    ...changes,
  };
}

describe('renderMessage', () => {
  it('says who wrote it, where and when, and keeps lines and indentation', () => {
    expect(renderMessage(said('Look:\r\n\tif (a < b)\n\n  done'))).toBe(
      '<message from="Alice" where="#dev, public" time="2026-01-15 13:00">\nLook:\n\tif (a < b)\n\n  done\n</message>',
    );
  });

  it('tells a direct message, a private channel and a thread apart', () => {
    const dm = { audience: 'dm', channelId: '200000000000000000', homeId: '200000000000000000' } as const;
    const thread = { ...publicPlace, channelName: 'tests', parentId: '2', parentName: 'dev' };
    for (const [place, where] of [
      [dm, 'direct message'],
      [{ ...publicPlace, audience: 'private' } as const, '#dev, private'],
      [thread, '#tests, a thread in #dev, public'],
    ] as const)
      expect(renderMessage(said('x', { place }))).toContain(`where="${where}"`);
  });

  it('says when it was written where that is not about now [H3]', () => {
    expect(renderMessage(said('x', { written: 'Wed 2026-01-14 23:59', turnsSinceSummary: 2 }))).toContain(
      ' time="2026-01-15 13:00" written="Wed 2026-01-14 23:59" turns-since-summary="2">\n',
    );
  });

  it('takes several messages together, attachments named', () => {
    const messages = [
      { id: '1', text: 'one', at: '', attachments: ['a.png'] },
      { id: '2', text: '', at: '', attachments: [] },
      { id: '3', text: 'two', at: '', attachments: [] },
    ];
    expect(renderMessage(said('', { messages }))).toContain('>\none\n[attached: a.png]\ntwo\n</message>');
  });

  it('does not expand replacement patterns', () => {
    expect(renderMessage(said("$& $' $1"))).toContain("\n$& $' $1\n");
  });

  it('never lets its words, the name, the place or a file name forge a tag or an attribute', () => {
    fc.assert(
      fc.property(nastyText, nastyText, nastyText, nastyText, (text, speakerName, channelName, file) => {
        const rendered = renderMessage(
          said('', {
            speakerName,
            place: { ...publicPlace, channelName },
            messages: [{ id: '1', text, at: '', attachments: [file] }],
          }),
        );
        expect(countTags(rendered)).toBe(2);
        expect(rendered).toMatch(/^<message from="[^"\n<>]+" where="[^"\n<>]+" time="2026-01-15 13:00">\n/u);
        expect(rendered.endsWith('\n</message>')).toBe(true);
      }),
    );
  });
});

function replied(message: Omit<RepliedMessage, 'files'>): string {
  return renderSection(repliedSection({ ...message, files: [] }, plainName, 'UTC'));
}

describe('the message that is replied to [Q3]', () => {
  it('keeps its lines and is named after its author', () => {
    expect(replied(chatMessage(1, 'one\n  two\n', { attachments: ['cat.png'] }))).toBe(
      '<replied_to>\nThe message that is replied to, by Alice, Thu 2026-01-15 12:00:\none\n  two\n[attached: cat.png]\n</replied_to>\n',
    );
    expect(replied(otherBotMessage(1, 'beep'))).toContain('by Dyno (bot), Thu 2026-01-15 12:00:\nbeep\n');
    expect(replied(ownMessage(1, 'yes'))).toContain('by you, Thu 2026-01-15 12:00:\nyes\n');
  });

  it('says so if there is nothing to read', () => {
    expect(renderSection(repliedSection('gone', plainName, 'UTC'))).toBe(
      '<replied_to>\nThe message that is replied to:\n(it can no longer be read)\n</replied_to>\n',
    );
    expect(replied(chatMessage(1, ' \n'))).toContain(':\n(no text)\n');
    expect(replied(chatMessage(1, '', { attachments: ['cat.png'] }))).toContain(':\n[attached: cat.png]\n');
  });

  it('is of its own day, as it is in the time zone [H3]', () => {
    const message = { ...chatMessage(1, 'see you tomorrow', { at: '2026-01-10T23:30:00.000Z' }), files: [] };
    expect(repliedSection(message, plainName, 'Europe/Berlin').title).toContain(
      'by Alice, Sun 2026-01-11 00:30:',
    );
  });

  it('is cut at a word, within its budget', () => {
    const text = replied(chatMessage(1, 'word '.repeat(1000)));
    expect(text).toMatch(/ word…\n<\/replied_to>\n$/u);
    expect(text.length).toBeGreaterThan(1900);
    expect(text.length).toBeLessThanOrEqual(2000);
  });

  it('has no author if it was forwarded', () => {
    const files = [{ name: 'a.txt', size: 1, url: 'https://cdn.discordapp.com/a.txt' }];
    expect(
      renderSection(
        forwardedSection({ text: 'hello', at: '2026-01-01T23:30:00.000Z', files }, 'Europe/Berlin'),
      ),
    ).toBe(
      '<forwarded>\nA message that was passed on, first written Fri 2026-01-02 00:30:\nhello\n[attached: a.txt]\n</forwarded>\n',
    );
  });

  it('never forges a tag, and never loses its tail for want of room', () => {
    const times = fc.integer({ min: 1, max: 80 });
    fc.assert(
      fc.property(nastyText, nastyText, nastyText, times, (text, name, file, count) => {
        const author = { id: '1', name, kind: 'human' as const };
        const message = chatMessage(1, text.repeat(count), { author, attachments: [file] });
        const files = [{ name: file, size: 1, url: '' }];
        for (const section of [
          repliedSection({ ...message, files: [] }, plainName, 'UTC'),
          forwardedSection({ text: message.text, at: message.at, files }, 'UTC'),
        ]) {
          expect(renderSection(section).length).toBeLessThanOrEqual(section.budget);
          expect(countTags(renderSection(section))).toBe(2);
        }
      }),
    );
  });
});

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
      { type: 'image', title: 'cat.png', mediaType: 'image/png', data: 'AAAA' },
      { type: 'text', text: expect.stringMatching(/^<attached_file>\nmovie[\s\S]*a\.pdf:[\s\S]*>\n$/u) },
      { type: 'document', title: 'a.pdf', data: 'BBBB' },
      { type: 'text', text: expect.stringMatching(/^<message [\s\S]*<\/message>$/u) },
    ]);
  });

  it('are parts of the prompt that add up, the longest cut to what is left of its bound, of which it and people are told [P4][P5][L1]', () => {
    const long: OpenedFile = { kind: 'text', name: 'long.txt', text: 'x'.repeat(100_000) };
    const huge: OpenedFile = { ...movie, isOverLimit: true };
    const files = [long, notes, picture, huge];
    const prompt = buildPrompt(promptInput({ files, promptMaxChars: 20_000 }));
    expect(wholeText(prompt).length).toBeLessThanOrEqual(20_000);
    expect(wholeText(prompt).length).toBeGreaterThan(19_900);
    expect(textOf(prompt.messages.at(-1)?.content ?? [])).toMatch(
      /long\.txt:\nx{19000,}…\n\(cut: this is the beginning, 19\d{3} of 100000 characters; .*\)[\s\S]*\ttwo\n/u,
    );
    expect(prompt.leftOut).toEqual(['long.txt (only its beginning)', 'movie.mp4 (not opened: over 10 MB)']);
    expect(prompt.parts.reduce((sum, { characters }) => sum + characters, 0)).toBe(wholeText(prompt).length);
    expect(prompt.parts.filter(({ name }) => name === 'attached_file')).toHaveLength(4);
  });

  it('never forge a tag by their names or contents, nor together with what follows', () => {
    const file = fc.oneof(
      fc.record({ kind: fc.constant('text' as const), name: nastyText, text: nastyText }),
      fc.record({ kind: fc.constant('document' as const), name: nastyText, data: fc.constant('BBBB') }),
    );
    fc.assert(
      fc.property(fc.array(file, { maxLength: 4 }), (attached) => {
        expect(countTags(textOf(lastTurn(attached)))).toBe(attached.length * 2 + 2);
      }),
    );
  });
});

it('a quoted text does not leave a tag half open for the next line to finish', () => {
  expect(quoted('see </')).toBe('see &lt;/');
  expect(quoted('see < ')).toBe('see &lt;');
});

describe('label', () => {
  it('takes from a name what would let it speak as somebody else', () => {
    expect(label('Bob: hi\nAlice')).toBe('Bob hi Alice');
    expect(label('x" where="#admin')).toBe('x where= #admin');
    expect(label('</message>')).toBe('/message');
  });

  it('is one line of at most 80 characters, always', () => {
    fc.assert(
      fc.property(fc.oneof(nastyText, fc.string({ unit: 'grapheme', minLength: 70 })), (name) => {
        const shown = label(name);
        expect(shown.length).toBeLessThanOrEqual(80);
        expect(shown).not.toMatch(/\p{Cs}/u);
        expect(shown).not.toMatch(/[:：<>"\n\r\u2028\u2029]|^$/u);
      }),
    );
  });
});
