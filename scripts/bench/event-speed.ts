import { setTimeout as delay } from 'node:timers/promises';

import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { SandboxServer } from '../../src/sandbox/sandbox-server.ts';
import { openStage, startFloor, startOurs, type StartBot } from './bots.ts';
import type { Bench, Subject } from './measured.ts';

const rounds = 5;
const burst = 20_000;
const people = 200;
/** Until a process that has nothing to do has come to rest; milliseconds. */
const restMs = 2000;

/** A start, and messages that are not for the bot; each round begins with a new process. */
export async function benchEvents(bench: Bench): Promise<void> {
  await bench.compare({
    rows: {
      ready: ['ready, in 5 servers of 100 channels', 'ms', 'at most 1.7 ×'],
      idle: ['memory, idle', 'MB', 'at most 1.4 ×'],
      cpu: ['an event that is not for the bot, processor', 'µs', 'at most 2.2 ×'],
    },
    rounds,
    ours: await subjectOf(startOurs),
    floor: { name: 'the library with its smallest caches', subject: await subjectOf(startFloor) },
  });
}

/** Among channels in which somebody has spoken an hour ago. */
async function subjectOf(start: StartBot): Promise<Subject<'ready' | 'idle' | 'cpu'>> {
  let ago = 3_600_000;
  const { sandbox, folder } = await openStage({ now: () => new Date(Date.now() - ago) });
  const channels = await addServers(sandbox);
  ago = 0;
  return {
    async sample() {
      const bot = await start({ sandbox, folder });
      await delay(restMs);
      const idle = await bot.residentMemory();
      // The first burst has the code compiled.
      const spent: number[] = [];
      for (let time = 0; time < 2; time += 1) {
        const before = await bot.cpu();
        sendBurst(sandbox, channels);
        await sandbox.delivered();
        await delay(restMs);
        spent.push(((await bot.cpu()) - before) * 1000);
      }
      await bot.stop();
      return { ready: bot.readyAfter, idle, cpu: (spent.at(-1) ?? NaN) / burst };
    },
    close: () => sandbox.close(),
  };
}

interface ChannelIds {
  readonly guildId: string;
  readonly channelId: string;
}

/** 5 servers of 100 channels. */
async function addServers(sandbox: SandboxServer): Promise<readonly ChannelIds[]> {
  const added: ChannelIds[] = [];
  for (let server = 0; server < 5; server += 1) {
    const { id: guildId } = await sandbox.addGuild({ name: `Busy ${server}`, owner: 'alice' });
    for (let index = 0; index < 100; index += 1) {
      const { id } = await sandbox.addChannel({ guild: guildId, name: `busy-${server}-${index}` });
      await sandbox.say({ as: 'alice', in: id, text: 'Hello.' });
      added.push({ guildId, channelId: id });
    }
  }
  return added;
}

function sendBurst(sandbox: SandboxServer, channels: readonly ChannelIds[]): void {
  const first = BigInt(snowflakeAt(new Date()));
  for (let index = 0; index < burst; index += 1) {
    const channel = channels[index % channels.length];
    if (channel !== undefined)
      sandbox.sendRaw({
        t: 'MESSAGE_CREATE',
        d: foreignMessage(String(first + BigInt(index)), index, channel),
      });
  }
}

/** Somebody talks to somebody else. */
function foreignMessage(id: string, index: number, { guildId, channelId }: ChannelIds) {
  const person = index % people;
  return {
    id,
    channel_id: channelId,
    guild_id: guildId,
    channel_type: 0,
    type: 0,
    content: `I think that we should rather take the train on day ${index}, it is much nicer than the car.`,
    author: {
      id: String(300_000_000_000_000_000n + BigInt(person)),
      username: `person${person}`,
      global_name: `Person ${person}`,
      discriminator: '0',
      avatar: 'a_0123456789abcdef0123456789abcdef',
      public_flags: 0,
      primary_guild: null,
      clan: null,
      collectibles: null,
      avatar_decoration_data: null,
    },
    member: {
      roles: [],
      joined_at: '2025-01-15T10:00:00.000000+00:00',
      nick: null,
      avatar: null,
      banner: null,
      premium_since: null,
      communication_disabled_until: null,
      pending: false,
      deaf: false,
      mute: false,
      flags: 0,
    },
    timestamp: new Date().toISOString(),
    edited_timestamp: null,
    tts: false,
    mention_everyone: false,
    mentions: [],
    mention_roles: [],
    attachments: [],
    embeds: [],
    components: [],
    pinned: false,
    flags: 0,
    nonce: id,
  };
}
