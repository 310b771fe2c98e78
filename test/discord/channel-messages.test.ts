import { describe, expect, it } from 'vitest';

import { runGateway } from './support/gateway-harness.ts';

describe('the message that is replied to [Q3]', () => {
  it('is asked of Discord where it has files or is older than the bot', async () => {
    const first = await runGateway();
    const { server } = first;
    const old = await server.say({ as: 'bob', in: 'dm', text: 'old' });
    await first.gateway.destroy();
    const { readReplied, settled } = await runGateway({ server });
    const pictured = await server.say({
      as: 'bob',
      in: '#general',
      attachments: [{ name: 'a.txt', text: 'x' }],
    });
    await settled();
    expect(await readReplied(old)).toMatchObject({ text: 'old', files: [] });
    expect(await readReplied(pictured)).toMatchObject({ files: [{ name: 'a.txt', size: 1 }] });
    expect(await server.requests({ method: 'GET', path: '/channels/*/messages/*' })).toHaveLength(2);
  });

  it('is gone where it was deleted or may not be read, without a request that must be refused', async () => {
    const { server, readReplied, settled, logger } = await runGateway();
    const deleted = await server.say({ as: 'bob', in: '#general', text: 'gone' });
    await server.delete({ message: deleted.id });
    const pictured = await server.say({ as: 'bob', in: '#dev', attachments: [{ name: 'a.txt', text: 'x' }] });
    await server.setOverwrite({ channel: '#dev', for: 'Discoclaw', deny: ['ReadMessageHistory'] });
    await settled();
    expect(await readReplied(deleted)).toBe('gone');
    expect(await readReplied(pictured)).toBe('gone');
    expect(await server.requests({ path: `/channels/*/messages/${pictured.id}` })).toEqual([]);
    expect(logger.warnings).toEqual([]);
    expect(logger.lines.filter(({ event }) => event.includes('could not be fetched'))).toEqual([]);
  });

  it('is hidden if it is a command or not part of history', async () => {
    const hidden = new Set<string>();
    const { server, readReplied, settled } = await runGateway({ hidden });
    const command = await server.say({ as: 'bob', in: '#general', text: '!memory show' });
    const line = await server.say({ as: 'bob', in: '#general', text: 'an error line' });
    hidden.add(line.id);
    await settled();
    expect(await readReplied(command)).toBe('hidden');
    expect(await readReplied(line)).toBe('hidden');
  });
});
