import { expect, it } from 'vitest';

import { usableEvent } from '../../src/discord/payloads.ts';
import { payloadScene } from './payloads-property.ts';
import { runGateway } from './support/gateway-harness.ts';
import { largestGuild } from './support/largest-guild.ts';

it('a server with unusable channels is read without them, and not at all without its roles [L5]', () => {
  let fresh = 1_400_000_000_000_000_000n;
  const guild = largestGuild(() => String((fresh += 1n)), { user: { id: String(fresh), username: 'bob' } });
  const channels = [null, { ...guild.channels[0], type: 99 }, ...guild.channels, { id: 'x' }];
  const event = usableEvent('GUILD_CREATE', { ...guild, channels });
  expect(Object(event)).toMatchObject({ channels: { length: 500 }, threads: { length: 1000 } });
  expect(usableEvent('GUILD_CREATE', { ...guild, roles: [null, ...guild.roles] })).toBe('malformed');
});

it('what comes after the largest guild does not overtake it', async () => {
  const { server, handlers, malformed } = await runGateway();
  const { ids } = await payloadScene(server);
  const bot = { id: ids.botId, username: 'Discoclaw', bot: true };
  const guild = largestGuild(ids.fresh, {
    user: bot,
    roles: [],
    joined_at: '2026-01-15T10:00:00Z',
    flags: 0,
  });
  server.sendRaw({ t: 'GUILD_CREATE', d: guild });
  server.sendRaw({
    t: 'MESSAGE_CREATE',
    d: {
      id: ids.fresh(),
      type: 0,
      guild_id: guild.id,
      channel_id: guild.channels[7]?.id,
      content: `<@${ids.botId}> hello`,
      author: { id: ids.personId, username: 'bob' },
      timestamp: '2026-01-15T10:00:00Z',
      mentions: [bot],
    },
  });
  await expect.poll(() => handlers.messages).toMatchObject([{ place: { channelName: 'channel-7' } }]);
  expect(malformed).toEqual([]);
});
