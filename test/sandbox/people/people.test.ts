import { once } from 'node:events';

import { describe, expect, it } from 'vitest';

import { openSandbox, runBot } from '../support/bot-client.ts';

describe('saying something', () => {
  it('is refused where the person could not in Discord', async () => {
    const server = await openSandbox();
    await expect(server.say({ as: 'carol', in: '#secret', text: 'a' })).rejects.toThrow(
      'carol cannot see #secret',
    );
    await server.setOverwrite({ channel: '#dev', for: '@everyone', deny: ['SendMessages'] });
    await expect(server.say({ as: 'carol', in: '#dev', text: 'a' })).rejects.toThrow(
      'carol may not write in #dev',
    );
    await expect(server.say({ as: 'carol', in: '@bob', text: 'a' })).rejects.toThrow(
      'carol cannot see this DM',
    );
    await expect(server.say({ as: 'bob', in: '#general', text: 'x'.repeat(4_001) })).rejects.toThrow(
      '4000 characters',
    );
    await expect(server.say({ as: 'bob', in: '#general', text: 'a', replyTo: '1' })).rejects.toThrow(
      'no message 1',
    );
  });
});

describe('people and channels', () => {
  it('let a moderator delete what the bot wrote, and nobody else', async () => {
    const { server, client } = await runBot();
    const channel = await client.channels.fetch('120000000000000002');
    if (!channel?.isSendable()) throw new Error('No channel to send to');
    const { id } = await channel.send('mine');
    const deleted = once(client, 'messageDelete');
    await expect(server.delete({ message: id, as: 'bob' })).rejects.toThrow(
      'bob lacks ManageMessages in #dev',
    );
    await server.setRole({ name: 'mods', permissions: ['ManageMessages'], people: ['bob'] });
    await server.delete({ message: id, as: 'bob' });
    expect(await deleted).toMatchObject([{ id }]);
    const own = await server.say({ as: 'carol', in: '#dev', text: 'mine too' });
    await server.delete({ message: own.id, as: 'carol' });
    expect(await server.messages({ in: '#dev' })).toEqual([]);
  });
});
