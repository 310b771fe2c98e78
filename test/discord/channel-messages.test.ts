import { describe, expect, it } from 'vitest';

import { runGateway } from './support/gateway-harness.ts';

describe('the message that is replied to [Q3]', () => {
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
});
