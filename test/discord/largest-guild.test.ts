import { expect, it } from 'vitest';

import { usableEvent } from '../../src/discord/payloads/payloads.ts';
import { payloadScene } from './payloads-property.ts';
import { runGateway } from './support/gateway-harness.ts';
import { largestGuild } from './support/largest-guild.ts';

it('the largest guild is checked in slices, between which others have their turn [L4]', async () => {
  let fresh = 1_400_000_000_000_000_000n;
  const one = largestGuild(() => String((fresh += 1n)), {});
  // However fast the machine is, this takes longer than a slice.
  const guild = { ...one, threads: Array.from({ length: 50 }, () => one.threads).flat() };
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const checked = await usableEvent('GUILD_CREATE', {
    ...guild,
    roles: [null, ...guild.roles],
    channels: [...guild.channels, { id: 'x' }],
  });
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
  const usable = checked.kind === 'usable' ? Object(checked.data) : {};
  for (const list of ['roles', 'channels', 'threads'] as const)
    expect(usable[list]).toHaveLength(guild[list].length);
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
