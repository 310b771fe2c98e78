import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderMessage } from '../../src/prompt/render-message.ts';
import type { PromptMessage } from '../../src/prompt/render-message.ts';
import { countTags, nastyText, promptInput, publicPlace } from './samples.ts';

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
    expect(renderMessage(said('x', { place: dm }))).toContain('where="direct message"');
    expect(renderMessage(said('x', { place: { ...publicPlace, audience: 'private' } }))).toContain(
      'where="#dev, private"',
    );
    expect(
      renderMessage(
        said('x', { place: { ...publicPlace, channelName: 'tests', parentId: '2', parentName: 'dev' } }),
      ),
    ).toContain('where="#tests, a thread in #dev, public"');
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

  it('drops what cannot be seen', () => {
    expect(renderMessage(said('a\u202eb\u200bc\0d\u{E0041}'))).toContain('\nabcd\n');
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
