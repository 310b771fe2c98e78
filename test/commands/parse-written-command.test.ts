import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { parseWrittenCommand } from '../../src/commands/parse-written-command.ts';

const botId = '500000000000000001';
const names = ['memory'] as const;

describe('recognising a memory command [K1]', () => {
  it.each([
    ['!memory show', 'show'],
    ['!memory', ''],
    ['  !Memory   Show  ', 'Show'],
    ['\n!MEMORY\tremember a\n  b', 'remember a\n  b'],
    [`<@${botId}> !memory show`, 'show'],
    [`<@!${botId}>!memory show`, 'show'],
    [`<@${botId}>, !memory forget x`, 'forget x'],
  ])('takes %j', (text, words) => {
    expect(parseWrittenCommand(text, names, botId)?.words).toBe(words);
  });

  it.each([
    '!memoryfoo',
    '!memory-show',
    '!memory, show',
    '!memorý show',
    'please !memory show',
    '! memory show',
    'memory show',
    '/memory show',
    '<@500000000000000002> !memory show',
    `<@&${botId}> !memory show`,
    `> !memory show`,
    '!status',
    '!constructor show',
    '',
  ])('leaves %j to the conversation', (text) => {
    expect(parseWrittenCommand(text, names, botId)).toBeUndefined();
  });

  it('accepts no mention at all where it is not known who the bot is', () => {
    expect(parseWrittenCommand(`<@${botId}> !memory show`, names)).toBeUndefined();
    expect(parseWrittenCommand('!memory show', names)?.words).toBe('show');
  });

  it('never takes a longer word for the command, and never loses words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (tail) => {
        const words = parseWrittenCommand(`!memory${tail}`, names)?.words;
        expect(words).toBe(/^\s|^$/u.test(tail) ? tail.trim() : undefined);
      }),
    );
  });
});
