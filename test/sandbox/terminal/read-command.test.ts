import {
  ApplicationCommandOptionType,
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandOption,
} from 'discord-api-types/v10';
import { expect, it } from 'vitest';

import type { Command } from '../../../src/sandbox/world/entities.ts';
import { readCommand, readNamed } from '../../../src/sandbox/terminal/commands.ts';

const facts = {
  id: '1',
  type: 1,
  description: 'x',
  memberPermissions: undefined,
  contexts: undefined,
  installations: undefined,
} as const;

function command(name: string, options: readonly APIApplicationCommandOption[]): Command {
  return { ...facts, name, options, nsfw: false, version: '1' };
}

function option(name: string): APIApplicationCommandBasicOption {
  return { type: ApplicationCommandOptionType.String, name, description: 'x' };
}

const { Subcommand, SubcommandGroup } = ApplicationCommandOptionType;
const exporting = {
  type: ApplicationCommandOptionType.Subcommand as const,
  name: 'export',
  description: 'x',
  options: [option('kind')],
};
const memory = command('memory', [
  { type: Subcommand, name: 'show', description: 'x' },
  { type: Subcommand, name: 'remember', description: 'x', options: [option('text'), option('days')] },
  { type: SubcommandGroup, name: 'data', description: 'x', options: [exporting] },
]);
const roll = command('roll', [option('dice'), option('loud'), option('table')]);

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
