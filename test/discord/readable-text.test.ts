import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { withoutMentions } from '../../src/core/own-words.ts';
import { readableText, type Names } from '../../src/discord/readable-text.ts';

const botId = '130000000000000001';
const alice = '140000000000000001';
const names: Names = {
  user: (id) => ({ [alice]: 'Alice $& <3', [botId]: 'Discoclaw' })[id],
  channel: (id) => (id === '120000000000000001' ? 'general' : undefined),
  role: (id) => (id === '150000000000000001' ? 'crew' : undefined),
};

function read(content: string): string {
  return readableText(content, names, botId);
}

describe('readable text', () => {
  it('leaves out the address, however it is written', () => {
    for (const address of [
      `<@${botId}> `,
      `<@!${botId}>\n`,
      `  <@${botId}>, `,
      `<@${botId}>: `,
      `<@${botId}><@${botId}>`,
    ]) {
      expect(read(`${address}hello`)).toBe('hello');
    }
  });

  it('keeps the bot’s name where it is content', () => {
    expect(read(`is <@${botId}> here?`)).toBe('is @Discoclaw here?');
    expect(read(`<@${botId}>`)).toBe('@Discoclaw');
  });

  it('names people, channels, roles, emoji and commands', () => {
    expect(read(`<@${alice}> <@!${alice}> <#120000000000000001> <@&150000000000000001>`)).toBe(
      '@\u2068Alice $& <3\u2069 @\u2068Alice $& <3\u2069 #general @crew',
    );
    expect(
      read('<:wave:160000000000000001> <a:party:160000000000000002> </memory show:160000000000000003>'),
    ).toBe(':wave: :party: /memory show');
  });

  it('lets no name pass for what the speaker says, whatever it is and wherever it stands', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.constantFrom('', ' ', 'x', '@'), (name, before) => {
        const named: Names = { ...names, user: () => name };
        const text = readableText(`I like${before}<@${alice}> tea`, named, botId);
        expect(withoutMentions(text).replace(/[\s@]+/gu, ' ')).toMatch(/^I likex? tea$/u);
      }),
      {
        examples: [
          ['I love Pepsi', ' '],
          ['a\u2069 I love Pepsi', ' '],
          ['Pepsi', 'x'],
          ['5', ''],
        ],
      },
    );
  });

  it('leaves what it cannot name as it is', () => {
    const text =
      '<@140000000000000009> <#120000000000000009> <@&150000000000000009> <t:1768471200:R> <b> <@12>';
    expect(read(text)).toBe(text);
  });

  it('never changes a text without markup, but for white space around it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('<')),
        (text) => {
          expect(read(text)).toBe(text.trim());
          expect(read(`<@${botId}> x${text}`)).toBe(`x${text}`.trim());
        },
      ),
    );
  });
});
