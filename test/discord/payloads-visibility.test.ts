import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';

import { placeOf } from '../../src/discord/place.ts';
import { runs } from '../support/runs.ts';
import { payloadScene } from './payloads-property.ts';
import { openSandbox, runGateway } from './support/gateway-harness.ts';

/** Of another form than what stands there, so that it cannot be another valid value. */
const mistyped = (value: unknown): readonly unknown[] =>
  [null, true, 1.5, 'x', [], [null], {}, { id: {} }].filter(
    (other) => typeof other !== typeof value || Array.isArray(other) !== Array.isArray(value),
  );

/** Where something stands: keys from the outside in. */
function pathsIn(value: unknown, path: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, part]) => pathsIn(part, [...path, key]))];
}

function partAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce((part, key): unknown => Object(part)[key], value);
}

/** With something else there; `undefined`: with the field left out. A part of a list stays one: a shorter list would be well-formed. */
function changedAt(value: unknown, [key, ...rest]: readonly string[], other: unknown): unknown {
  if (key === undefined) return other;
  const changed = changedAt(partAt(value, [key]), rest, other);
  if (Array.isArray(value)) return value.with(Number(key), changed ?? null);
  const { [key]: _, ...others } = Object(value);
  return changed === undefined ? others : { ...others, [key]: changed };
}

const parts = z.array(z.looseObject({ id: z.string() }));
const guildSchema = z.looseObject({ roles: parts, channels: parts });

it('malformed packets never make a place more visible than it is, nor what is said there [L5] [V0]', async () => {
  const guilds: z.infer<typeof guildSchema>[] = [];
  const server = await openSandbox({
    sends(body) {
      const { data } = guildSchema.safeParse(body);
      if (data !== undefined) guilds.push(data);
      return body;
    },
  });
  const { client, handlers, settled, malformed } = await runGateway({ server });
  const { ids, places } = await payloadScene(server);
  const [guild] = guilds;
  if (guild === undefined) throw new Error('The sandbox has a server');
  const channels = guild.channels.map((one) => ({ ...one, guild_id: ids.guildId }));
  const channelIds = [...channels.map(({ id }) => id), ids.threadId, ids.dmId];

  const known = (id: string) => client.channels.cache.get(id);
  const options = { known, find: async (id: string) => known(id), memberRole: async () => undefined };
  /** As far as the bot knows by now; a channel that it does not hold is not known to anybody. */
  const seen = async () => {
    const all = new Map<string, Seen>();
    for (const id of channelIds) {
      const channel = known(id);
      const place = channel && (await placeOf(channel, options));
      if (place !== undefined) all.set(id, { audience: place.audience, readers: place.readers });
    }
    return all;
  };
  await server.say({ as: 'bob', in: 'dm', text: 'Hello?' });
  await settled();
  const truth = await seen();

  const author = { id: ids.personId, username: 'bob', discriminator: '0', avatar: null, global_name: null };
  const member = { roles: [], nick: null, joined_at: '2026-01-15T10:00:00Z', flags: 0 };
  const mentions = [{ ...author, id: ids.botId }];
  const message = { type: 0, author, content: `<@${ids.botId}> hi`, mentions };
  const inGuild = { guild_id: ids.guildId };
  const packets: readonly (readonly [type: string, data: object])[] = [
    ['GUILD_CREATE', guild],
    ['GUILD_UPDATE', { ...guild, channels: undefined, threads: undefined }],
    ...channels.map((channel) => ['CHANNEL_UPDATE', channel] as const),
    ...channels.map((channel) => ['CHANNEL_CREATE', channel] as const),
    ...guild.roles.map((role) => ['GUILD_ROLE_UPDATE', { ...inGuild, role }] as const),
    ['GUILD_MEMBER_UPDATE', { ...inGuild, ...member, user: author }],
    ...channelIds.map((id) => ['MESSAGE_CREATE', { ...message, channel_id: id, member }] as const),
  ];
  const broken = fc.constantFrom(...packets).chain(([t, data]) => {
    // Each message is a new one.
    const makes = (d: unknown) => ({
      t,
      d: t === 'MESSAGE_CREATE' ? { ...Object(d), id: ids.fresh() } : d,
    });
    const paths = pathsIn(data).filter(({ length }) => length > 0);
    return fc
      .constantFrom(...paths)
      .chain((path) =>
        fc
          .constantFrom(undefined, ...mistyped(partAt(data, path)))
          .map((other) => makes(changedAt(data, path, other))),
      );
  });

  /** As after an outage; otherwise the client takes no server that it has. */
  const tellAnew = (d: unknown): void => {
    server.sendRaw({ t: 'GUILD_DELETE', d: { id: ids.guildId, unavailable: true } });
    server.sendRaw({ t: 'GUILD_CREATE', d });
  };
  await fc.assert(
    fc.asyncProperty(broken, async ({ t, d }) => {
      if (t === 'GUILD_CREATE') tellAnew(d);
      else server.sendRaw({ t, d });
      await server.delivered();
      for (const [id, place] of await seen()) expect(isWider(place, truth.get(id))).toBe(false);
    }),
    { numRuns: runs(500) },
  );
  await settled();
  for (const { channelId, place } of handlers.messages)
    expect(isWider(place, truth.get(channelId))).toBe(false);
  expect(malformed.length).toBeGreaterThan(runs(150));

  // All of it is known again once it is told as it should be, and nobody is left without an answer.
  tellAnew(guild);
  await server.delivered();
  const after = await seen();
  for (const { id } of channels) expect(after.get(id)).toEqual(truth.get(id));
  for (const place of places)
    await server.say({ as: 'alice', in: place, text: `Still there, ${place}?`, mentionBot: true });
  const answered = () => handlers.texts.filter((text) => text.startsWith('Still there'));
  await expect.poll(answered).toHaveLength(places.length);
});

interface Seen {
  readonly audience: string;
  readonly readers?: readonly string[] | undefined;
}

/** Whether somebody counts as a reader who is none, or somebody who is a reader does not count. */
function isWider({ audience, readers }: Seen, truth: Seen | undefined): boolean {
  if (truth === undefined || audience !== 'private') return audience !== truth?.audience;
  return readers !== undefined && !(truth.readers ?? []).every((each) => readers.includes(each));
}
