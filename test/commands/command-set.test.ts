import { describe, expect, it } from 'vitest';

import { createCommandSet } from '../../src/commands/command-set.ts';
import type { Command } from '../../src/commands/command-set.ts';
import type { CommandName, CommandRequest } from '../../src/core/chat.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';

function commandNamed(name: CommandName): Command {
  return {
    slash: { name, definition: { name }, words: () => '' },
    handle: ({ words }) => Promise.resolve(`${name}: ${words}`),
  };
}

function request(name: CommandName): CommandRequest {
  return {
    id: '400000000000000001',
    name,
    words: 'show',
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place: publicPlace,
    ephemeral: false,
    at: '2026-01-15T10:00:00.000Z',
  };
}

describe('the commands that are switched on', () => {
  const commands = createCommandSet([commandNamed('memory'), commandNamed('status')]);

  it('are recognised by their names, and each answers its own requests', async () => {
    expect(commands.parse('!Status show')).toEqual({ name: 'status', words: 'show' });
    expect(await commands.handle(request('memory'))).toBe('memory: show');
    expect(await commands.handle(request('status'))).toBe('status: show');
    expect(commands.slashCommands.map(({ name }) => name)).toEqual(['memory', 'status']);
  });

  it('leave the name of another one to the conversation, and say so where Discord still has it', async () => {
    expect(commands.parse('!settings show')).toBeUndefined();
    expect(await commands.handle(request('settings'))).toContain('switched off');
  });
});
