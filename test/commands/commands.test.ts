import { describe, expect, it } from 'vitest';

import { defineCommand, type Command } from '../../src/commands/command.ts';
import { createCommandSet } from '../../src/commands/commands.ts';
import type { CommandRequest } from '../../src/core/commands.ts';
import { aliceId, publicPlace } from '../support/incoming.ts';
import { recordingLogger } from '../support/recording-logger.ts';

function commandNamed(name: string): Command {
  return defineCommand(
    {
      name,
      description: '',
      subcommands: { show: { description: '' } },
      help: { description: '', end: '', noun: '' },
    },
    { handle: ({ subcommand }) => Promise.resolve({ text: `${name}: ${subcommand}` }) },
  );
}

function request(name: string): CommandRequest {
  return {
    id: '400000000000000001',
    command: { name, subcommand: 'show', options: {} },
    speaker: { id: aliceId, name: 'Alice', isOwner: false },
    place: publicPlace,
    ephemeral: false,
    at: '2026-01-15T10:00:00.000Z',
    work: { userId: aliceId },
  };
}

describe('the commands that are switched on', () => {
  const commands = createCommandSet(
    [commandNamed('memory'), commandNamed('status')],
    { 'Remember this': () => Promise.reject(new Error('secret details')) },
    recordingLogger(),
  );

  it('are recognised by their names, and each answers its own requests', async () => {
    expect(commands.parse('!Status show')).toEqual({ name: 'status', subcommand: 'show', options: {} });
    expect(await commands.command(request('memory'))).toEqual({ text: 'memory: show' });
    expect(await commands.command(request('status'))).toEqual({ text: 'status: show' });
    expect(commands.definitions.map(({ name }) => name)).toEqual(['memory', 'status']);
  });

  it('treat the name of a disabled one as conversation, and say so if Discord still lists it', async () => {
    expect(commands.parse('!settings show')).toBeUndefined();
    const { command, ...context } = request('settings');
    const gone = { text: 'I no longer have this command.' };
    expect(await commands.command({ ...context, command })).toEqual(gone);
    const message = {
      id: '400000000000000002',
      channelId: publicPlace.channelId,
      author: { id: aliceId, name: 'Alice', kind: 'human' },
      text: '',
      at: context.at,
      attachments: [],
    } as const;
    expect(await commands.menu({ ...context, name: 'Forget this', message })).toEqual(gone);
    const failed = await commands.menu({ ...context, name: 'Remember this', message });
    expect(failed.text).toMatch(
      /^Something went wrong on my side\. Please try again\. \(reference [0-9a-f]{6}\)$/u,
    );
  });
});
