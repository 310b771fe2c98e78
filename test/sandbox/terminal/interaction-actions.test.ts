import { expect, it } from 'vitest';

import type { CommandView, OptionView } from '../../../src/sandbox/control/control-views.ts';
import { readCommand, readNamed } from '../../../src/sandbox/terminal/interaction-actions.ts';

function option(name: string, facts: Partial<OptionView> = {}): OptionView {
  return { name, takesFile: false, required: false, autocomplete: false, choices: [], ...facts };
}

const memory: CommandView = {
  name: 'memory',
  type: 'slash',
  guildId: undefined,
  options: [],
  subcommands: [
    { name: 'show', path: 'show', options: [] },
    { name: 'remember', path: 'remember', options: [option('text'), option('days')] },
    { name: 'export', path: 'data export', options: [option('kind')] },
  ],
};
const roll: CommandView = {
  name: 'roll',
  type: 'slash',
  guildId: undefined,
  options: [option('dice'), option('loud'), option('table')],
  subcommands: [],
};

/** What is handed to the control for a line. */
function read(line: string): object {
  const { title, call, options, words } = readCommand([memory, roll], line);
  const names = options.map(({ name }) => name);
  return { ...call, options: readNamed(title, names, words) };
}

it('reads the subcommand, and the rest as its first option', () => {
  expect(read('memory show')).toEqual({ name: 'memory', subcommand: 'show', options: {} });
  expect(read('memory Remember  I like\ntea')).toEqual({
    name: 'memory',
    subcommand: 'remember',
    options: { text: 'I like\ntea' },
  });
});

it('reads a subcommand of a group with or without the name of that', () => {
  for (const line of ['memory data export all', 'memory export all'])
    expect(read(line)).toMatchObject({ subcommand: 'data export', options: { kind: 'all' } });
});

it('reads everything as the first option where there are no subcommands', () => {
  expect(read('roll 2 d6')).toEqual({ name: 'roll', options: { dice: '2 d6' } });
  expect(read('/roll')).toEqual({ name: 'roll', options: {} });
});

it('reads options by their names', () => {
  expect(read('memory remember text:I like: tea days:3')).toMatchObject({
    options: { text: 'I like: tea', days: '3' },
  });
  expect(read('roll loud:Yes table:green felt dice:2 d6')).toMatchObject({
    options: { loud: 'Yes', table: 'green felt', dice: '2 d6' },
  });
  expect(read('roll so dice:6')).toMatchObject({ options: { dice: 'so dice:6' } });
});

it('refuses what the command has no place for, and says what there is', () => {
  expect(() => read('memory')).toThrow('There are /memory show, /memory remember');
  expect(() => read('memory eat it')).toThrow('There are /memory show, /memory remember');
  expect(() => read('memory show me')).toThrow('/memory show takes nothing after it');
});
