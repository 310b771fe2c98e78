import { ApplicationCommandOptionType, ApplicationCommandType } from 'discord.js';
import { describe, expect, it } from 'vitest';

import { parseCommandForms } from '../../../src/sandbox/rest/command-routes.ts';

const text = { type: ApplicationCommandOptionType.String, name: 'text', description: 'a' } as const;
const memory = { name: 'memory', description: 'What is known', options: [text] };
const menu = { name: 'Remember this', type: ApplicationCommandType.Message } as const;

describe('a command', () => {
  it('is a slash command if it does not say what it is, and equal whatever keys are left empty', () => {
    const [form] = parseCommandForms([memory]);
    expect(form).toEqual({
      type: ApplicationCommandType.ChatInput,
      name: 'memory',
      description: 'What is known',
      options: [text],
      memberPermissions: undefined,
      contexts: undefined,
      nsfw: false,
    });
    const spelledOut = { ...memory, type: 1, contexts: null, default_member_permissions: null, nsfw: false };
    expect(parseCommandForms([spelledOut])).toEqual([form]);
    expect(parseCommandForms([{ ...memory, dm_permission: false }])[0]?.contexts).toEqual([0]);
  });
});

describe('a command that Discord would not take', () => {
  const sub = { type: ApplicationCommandOptionType.Subcommand, name: 'show', description: 'a' };
  it.each([
    ['a slash command with capitals', { ...memory, name: 'Memory' }],
    ['a slash command with a space', { ...memory, name: 'my memory' }],
    ['a slash command without description', { name: 'memory' }],
    ['a description of 101 characters', { ...memory, description: 'x'.repeat(101) }],
    ['an entry of a menu with a description', { ...menu, description: 'a' }],
    ['an entry of a menu with options', { ...menu, options: [text] }],
    ['an entry of a menu of 33 characters', { ...menu, name: 'x'.repeat(33) }],
    ['two options of one name', { ...memory, options: [text, text] }],
    [
      'a required option after one that is not',
      { ...memory, options: [text, { ...text, name: 'b', required: true }] },
    ],
    ['subcommands beside options', { ...memory, options: [text, sub] }],
    [
      'choices and completion',
      { ...memory, options: [{ ...text, autocomplete: true, choices: [{ name: 'a', value: 'a' }] }] },
    ],
    [
      '26 options',
      { ...memory, options: Array.from({ length: 26 }, (_, n) => ({ ...text, name: `o${n}` })) },
    ],
    ['permissions that are not a number', { ...memory, default_member_permissions: 'all' }],
  ])('is %s', (_, body) => {
    expect(() => parseCommandForms([body])).toThrow(expect.objectContaining({ code: 50_035, status: 400 }));
  });
});
