import { describe, expect, it } from 'vitest';

import { allShards } from '../../src/core/processes.ts';
import { RecentChanges } from '../../src/core/changes.ts';
import { createDiscordPorts } from '../../src/discord/discord-ports.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { newClient, noProxies, openSandbox, openToAll } from './support/gateway-harness.ts';

describe('the ports', () => {
  it('have a sent reply in history before the gateway tells of it', async () => {
    const server = await openSandbox();
    const asked = await server.say({ as: 'bob', in: '#general', text: 'hello' });
    // Never connected, so that no event comes.
    const client = newClient(server);
    client.rest.setToken(server.token);
    const { history, replies } = createDiscordPorts({
      client,
      shards: allShards,
      access: openToAll,
      proxied: noProxies,
      hiddenIn: () => Promise.resolve(() => false),
      isCommand: () => false,
      memberRole: async () => undefined,
      noteGone: () => undefined,
      recent: new RecentChanges(),
      clock: () => new Date(),
      logger: new RecordingLogger(),
    });
    const sent = await replies.send(asked.channelId, 'Hello Bob!', asked.id);
    const [id = ''] = sent.kind === 'sent' ? sent.ids : [];
    expect(history.messageOf(asked.channelId, id)?.text).toBe('Hello Bob!');
  });
});
