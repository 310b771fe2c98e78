import { describe, expect, it } from 'vitest';

import { runGateway } from '../support/gateway-harness.ts';

const user = { id: '140000000000000002', username: 'bob', discriminator: '0', global_name: 'Bob' };
const member = {
  user,
  roles: ['880000000000000005'],
  joined_at: '2026-01-15T08:00:00.000Z',
  deaf: false,
  mute: false,
  permissions: '8',
};
const elsewhere = { guild_id: '880000000000000001', channel: { id: '880000000000000002', type: 0 } };
const bestie = { id: '880000000000000003', type: 1, recipients: [{ ...user, id: '140000000000000009' }] };
const group = { id: '880000000000000004', type: 3, recipients: [user], name: 'friends' };
const ownDm = { id: '150000000000000002', type: 1, recipients: [user] };
const byPerson = { '1': user.id };

let count = 0;

/** As Discord documents it, with what differs by where it was given. */
function payload(where: object) {
  count += 1;
  return {
    id: String(1_500_000_000_000_000_000n + BigInt(count)),
    application_id: '130000000000000001',
    type: 2,
    token: 'a-token',
    version: 1,
    app_permissions: '442368',
    locale: 'en-US',
    entitlements: [],
    attachment_size_limit: 10_485_760,
    data: { id: '5', name: 'memory', type: 1, options: [{ name: 'show', type: 1, options: [] }] },
    ...where,
  };
}

const places: readonly (readonly [string, object, 'dm' | 'guild'])[] = [
  [
    'a server without the bot',
    {
      ...elsewhere,
      guild: { id: elsewhere.guild_id },
      member,
      context: 0,
      authorizing_integration_owners: byPerson,
    },
    'dm',
  ],
  ['a server without the bot, in an older payload', { ...elsewhere, member }, 'dm'],
  [
    'somebody else’s DM',
    { channel: bestie, user, context: 2, authorizing_integration_owners: byPerson },
    'dm',
  ],
  ['a group DM', { channel: group, user, context: 2, authorizing_integration_owners: byPerson }, 'dm'],
  [
    'the bot’s DM',
    { channel: ownDm, user, context: 1, authorizing_integration_owners: { '0': '0', ...byPerson } },
    'dm',
  ],
  ['the bot’s DM, in an older payload', { channel: ownDm, user }, 'dm'],
  [
    'a server with the bot, by a person’s own installation',
    {
      guild_id: '110000000000000001',
      channel: { id: '120000000000000001', type: 0 },
      member,
      context: 0,
      authorizing_integration_owners: byPerson,
    },
    'guild',
  ],
];

describe('where a command was given, by the payloads that Discord documents [EW1]', () => {
  it.each(places)('%s', async (_, where, kind) => {
    const { server, handlers, malformed, client, settled } = await runGateway();
    server.sendRaw({ t: 'INTERACTION_CREATE', d: payload(where) });
    await settled();
    // The sandbox does not know its token: what cannot be acknowledged is not done.
    expect(handlers.commands).toEqual([]);
    await server.setFault({
      route: 'POST /interactions/*/*/callback',
      kind: 'answer',
      status: 204,
      body: '',
      times: 5,
    });
    server.sendRaw({ t: 'INTERACTION_CREATE', d: payload(where) });
    await expect.poll(() => handlers.commands.length).toBe(1);
    await settled();
    expect(malformed).toEqual([]);
    const place =
      kind === 'dm'
        ? { audience: 'dm', channelId: ownDm.id }
        : { audience: 'public', channelId: '120000000000000001', guildId: '110000000000000001' };
    expect(handlers.commands).toMatchObject([{ place, ephemeral: true, speaker: { id: user.id } }]);
    for (const { id } of [bestie, group]) expect(client.channels.cache.has(id)).toBe(false);
  });
});

describe('an answer where the bot is not [EW1]', () => {
  it('is as many messages as Discord takes there, to a command and to a button', async () => {
    const { server, handlers, settled } = await runGateway();
    const friends = await server.addDm({ people: ['alice', 'bob', 'carol'] });
    handlers.commandAnswer = async () => 'A line of a long answer.\n'.repeat(1000);
    handlers.commandButtons = [{ label: 'More', line: 'memory show', takes: 'nothing' }];
    const given = { as: 'alice', in: friends.id, name: 'memory', subcommand: 'show', followUps: 5 };
    const { followUps } = await server.slash(given);
    const pressed = { as: 'alice', message: followUps.at(-1)?.id ?? '', label: 'More', followUps: 5 };
    await server.click(pressed);
    await settled();
    const seen = await server.messages({ in: friends.id, as: 'alice', from: 'bot' });
    expect(seen).toHaveLength(1 + 5 + 5);
    for (const index of [5, 10]) expect(seen[index]?.text).toContain('The rest is too long for here');
  });
});
