import { describe, expect, it } from 'vitest';

import { openSandbox, runGateway, textsOf } from './support/gateway-harness.ts';

/** Fields that Discord's documentation calls optional or nullable, by what tells the object that has them. */
const documented: readonly (readonly [has: readonly string[], fields: readonly string[]])[] = [
  [
    ['content', 'author'],
    [
      'channel_type',
      'guild_id',
      'member',
      'thread',
      'message_reference',
      'referenced_message',
      'edited_timestamp',
      'webhook_id',
      'application_id',
      'flags',
      'components',
      'sticker_items',
      'poll',
      'message_snapshots',
    ],
  ],
  [['username'], ['global_name', 'avatar', 'member']],
  [
    ['roles', 'joined_at'],
    ['nick', 'avatar', 'banner', 'joined_at', 'communication_disabled_until', 'permissions', 'unavailable'],
  ],
  [
    ['type', 'id', 'last_message_id'],
    ['guild_id', 'position', 'name', 'owner_id', 'thread_metadata', 'member', 'flags', 'permissions'],
  ],
];
const fields = [...new Set(documented.flatMap(([, names]) => names))];

type Absence = 'missing' | 'null';

/** The body with these of its fields left out or set to null, at any depth. */
function without(body: unknown, absent: ReadonlyMap<string, Absence>): unknown {
  if (Array.isArray(body)) return body.map((one) => without(one, absent));
  if (typeof body !== 'object' || body === null) return body;
  const optional = new Set(
    documented.flatMap(([has, names]) => (has.every((key) => Object.hasOwn(body, key)) ? names : [])),
  );
  const kept = Object.entries(body).flatMap(([key, value]) => {
    const how = optional.has(key) ? absent.get(key) : undefined;
    if (how === 'missing') return [];
    return [[key, how === 'null' ? null : without(value, absent)] as const];
  });
  // Where a field need not be there, it may be there as null.
  const added = [...absent].flatMap(([key, how]) =>
    how === 'null' && optional.has(key) && !Object.hasOwn(body, key) ? [[key, null] as const] : [],
  );
  return Object.fromEntries([...kept, ...added]);
}

/** What people see of a bot on a server that leaves these fields out: who is answered, how private the place is, and what history there is. */
async function seenWith(absent: ReadonlyMap<string, Absence>, alwaysAbsent: readonly string[] = []) {
  const server = await openSandbox({
    sends: (body) => {
      const changed = JSON.stringify(without(body, absent));
      return JSON.parse(changed, (key, value: unknown) => (alwaysAbsent.includes(key) ? undefined : value));
    },
  });
  const { handlers, history, gateway } = await runGateway({ server });
  const thread = await server.addThread({ as: 'alice', channel: '#general', name: 'plans' });
  for (const place of ['#general', '#secret', thread.id, 'dm']) {
    const as = place === '#secret' ? 'bob' : 'alice';
    const earlier = await server.say({ as, in: place, text: `Earlier in ${place}` });
    await server.say({ as, in: place, text: `Here in ${place}`, mentionBot: true, replyTo: earlier.id });
  }
  const whole = 'Here in dm';
  await expect.poll(() => handlers.texts.some((text) => text.includes(whole))).toBe(true);
  await server.delivered();
  await gateway.idle();
  const seen: Record<string, unknown> = {};
  for (const { text, place, channelId } of handlers.messages) {
    if (!text.startsWith('Here')) continue;
    const key = text.replace(thread.id, 'the thread');
    const said = textsOf(await history.recent(channelId, 10)).map((one) =>
      one.replace(thread.id, 'the thread'),
    );
    seen[key] = { audience: place.audience, isOfParent: place.parentId !== undefined, said };
  }
  return { seen, gateway };
}

describe('another Discord-compatible server [L5] [Z6]', () => {
  it('is understood as Discord is, whether it leaves out optional fields or sends them as null', async () => {
    const { seen: usual } = await seenWith(new Map());
    expect(Object.keys(usual)).toHaveLength(4);
    expect(usual).toMatchObject({
      'Here in #general': { audience: 'public' },
      'Here in #secret': { audience: 'private' },
      'Here in dm': { audience: 'dm' },
    });
    for (const how of ['missing', 'null'] as const) {
      const absent = new Map(fields.map((field) => [field, how] as const));
      expect((await seenWith(absent)).seen).toEqual(usual);
    }
  });

  it('that does not say who may read its channels has no public ones [V0]', async () => {
    const { seen } = await seenWith(new Map(), ['permission_overwrites', 'unavailable']);
    expect(seen).toMatchObject({
      'Here in #general': { audience: 'private' },
      'Here in #secret': { audience: 'private' },
      'Here in dm': { audience: 'dm' },
    });
  });
});
