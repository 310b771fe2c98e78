import { shardOf } from '../../src/core/processes.ts';
import type { TestSandbox } from './sandbox/test-sandbox.ts';

/** A guild, and a channel of it whose name no other guild has. */
export interface ShardPlace {
  readonly guildId: string;
  readonly guild: string;
  readonly channel: string;
  readonly channelId: string;
}

/** Makes the guilds of a sandbox so that each of the shards has one with a channel of its own, in which everybody may write. */
export async function placesOfShards(server: TestSandbox, count: number): Promise<readonly ShardPlace[]> {
  const { guilds, channels } = await server.info();
  const places = new Map<number, ShardPlace>();
  const [guild = '', guildId = ''] = Object.entries(guilds)[0] ?? [];
  places.set(shardOf(guildId, count), {
    guildId,
    guild,
    channel: '#dev',
    channelId: channels['dev'] ?? '',
  });
  const members = ['alice', 'bob', 'carol'];
  // Ids are made of the time, so that a guild of the wanted shard comes by itself.
  for (let number = 1; places.size < count; number += 1) {
    const { id, name } = await server.addGuild({ name: `Guild ${number}`, owner: 'alice', members });
    const shard = shardOf(id, count);
    if (places.has(shard)) {
      await server.setBotMembership({ guild: id, isMember: false });
      continue;
    }
    const channel = `shard-${shard}`;
    const made = await server.addChannel({ guild: id, name: channel });
    places.set(shard, { guildId: id, guild: name, channel: `#${channel}`, channelId: made.id });
  }
  return Array.from({ length: count }, (_, shard) => {
    const place = places.get(shard);
    if (place === undefined) throw new Error(`No guild is in shard ${shard}`);
    return place;
  });
}
