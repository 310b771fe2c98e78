import { expect, it } from 'vitest';

import type { CommandView, OptionView } from '../../../src/sandbox/control/control-views.ts';
import { readSlashLine } from '../../../src/sandbox/terminal/interaction-actions.ts';

function option(name: string, facts: Partial<OptionView> = {}): OptionView {
  return { name, takesFile: false, required: false, autocomplete: false, choices: [], ...facts };
}

const memory: CommandView = {
  name: 'memory',
  type: 'slash',
  guildId: undefined,
  options: [],
  subcommands: [
    { name: 'show', group: undefined, options: [] },
    { name: 'remember', group: undefined, options: [option('text'), option('days')] },
  ],
};
const roll: CommandView = {
  name: 'roll',
  type: 'slash',
  guildId: undefined,
  options: [
    option('dice'),
    option('loud'),
    option('table', { choices: [{ name: 'Green felt', value: 'green' }] }),
  ],
  subcommands: [],
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
  expect(readSlashLine(roll, '2 d6')).toEqual({ name: 'roll', options: { dice: '2 d6' } });
  expect(readSlashLine(roll, '')).toEqual({ name: 'roll', options: {} });
});

it('reads options by their names, each as what it takes', () => {
  expect(readSlashLine(memory, 'remember text:I like: tea days:3').options).toEqual({
    text: 'I like: tea',
    days: '3',
  });
  expect(readSlashLine(roll, 'loud:Yes table:green felt dice:2 d6').options).toEqual({
    loud: 'Yes',
    table: 'green',
    dice: '2 d6',
  });
  expect(readSlashLine(roll, 'so dice:6').options).toEqual({ dice: 'so dice:6' });
});

it('refuses what the command has no place for, and says what there is', () => {
  expect(() => readSlashLine(memory, '')).toThrow('There are /memory show, /memory remember');
  expect(() => readSlashLine(memory, 'eat it')).toThrow('There are /memory show, /memory remember');
  expect(() => readSlashLine(memory, 'show me')).toThrow('/memory show takes nothing after it');
  expect(() => readSlashLine(roll, 'table:red')).toThrow('/roll takes one of these as table: Green felt');
});
