import { expect, it } from 'vitest';

import { readSlashLine } from '../../../src/sandbox/terminal/slash-line.ts';

const memory = {
  name: 'memory',
  options: [],
  subcommands: [
    { name: 'show', options: [] },
    { name: 'remember', options: ['text', 'kind'] },
  ],
};

it('reads the subcommand, and the rest as its first option', () => {
  expect(readSlashLine(memory, 'show')).toEqual({ name: 'memory', subcommand: 'show', options: {} });
  expect(readSlashLine(memory, 'Remember  I like\ntea')).toEqual({
    name: 'memory',
    subcommand: 'remember',
    options: { text: 'I like\ntea' },
  });
});

it('reads everything as the first option where there are no subcommands', () => {
  const roll = { name: 'roll', options: ['dice'], subcommands: [] };
  expect(readSlashLine(roll, '2 d6')).toEqual({ name: 'roll', options: { dice: '2 d6' } });
  expect(readSlashLine(roll, '')).toEqual({ name: 'roll', options: {} });
});

it('refuses what the command has no place for, and says what there is', () => {
  expect(() => readSlashLine(memory, '')).toThrow('There are /memory show, /memory remember');
  expect(() => readSlashLine(memory, 'eat it')).toThrow('There are /memory show, /memory remember');
  expect(() => readSlashLine(memory, 'show me')).toThrow('/memory show takes nothing after it');
});
