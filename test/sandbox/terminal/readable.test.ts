import { expect, it } from 'vitest';

import { bytesText, componentLines, quoted, readableText } from '../../../src/sandbox/terminal/readable.ts';

const names = {
  personOf: (id: string) => (id === '1' ? 'alice' : id),
  isBot: () => false,
  placeOf: (id: string) => (id === '5' ? '#dev' : undefined),
};

it('names who and what is mentioned', () => {
  expect(readableText('<@1> and <@!2> in <#5>, not <#6>', names)).toBe('@alice and @2 in #dev, not <#6>');
});

it('tells sizes as people do', () => {
  expect([0, 1, 1_023, 1_024, 1_536, 1_024 ** 2, 10.25 * 1_024 ** 2].map(bytesText)).toEqual([
    '0 bytes',
    '1 byte',
    '1023 bytes',
    '1 kB',
    '1.5 kB',
    '1 MB',
    '10.3 MB',
  ]);
});

it('quotes one short line, whole letters only', () => {
  expect(quoted('one\n two ')).toBe('“one two”');
  expect(quoted('x'.repeat(40))).toBe(`“${'x'.repeat(40)}”`);
  expect(quoted('🙂'.repeat(41))).toBe(`“${'🙂'.repeat(39)}…”`);
});

it('shows buttons, those that cannot be clicked, and what a select offers', () => {
  const button = {
    style: 'primary',
    disabled: false,
    customId: 'a',
    url: undefined,
    emoji: undefined,
  } as const;
  const select = {
    customId: 's',
    placeholder: '',
    disabled: false,
    options: [
      { label: 'Tea', value: 't' },
      { label: 'Milk', value: 'm' },
    ],
  };
  expect(
    componentLines({
      rows: [
        {
          buttons: [
            { ...button, label: '◀', disabled: true },
            { ...button, label: 'On', emoji: '▶' },
            { ...button, label: 'Open', url: 'https://a.example' },
          ],
        },
        { buttons: [], select },
      ],
    }),
  ).toEqual(['(◀) [▶ On] [Open https://a.example]', '[Choose ▾ Tea | Milk]']);
});
