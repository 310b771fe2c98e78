import { setTimeout as delay } from 'node:timers/promises';

import { snowflakeAt } from '../../src/core/snowflake.ts';
import type { SandboxServer } from '../../src/sandbox/sandbox-server.ts';
import { openStage, startFloor, startVersion, type BotProcess } from './bots.ts';
import type { Bench, Comparison } from './measured.ts';

const rounds = 5;
const burst = 20_000;
const people = 200;
/** Until a process that has nothing to do has come to rest; milliseconds. */
const restMs = 2000;

/** Messages that are not for the bot, beside a bot with the library's smallest caches that only hears them; each round begins with a new process. */
export async function benchEvents(bench: Bench): Promise<void> {
  await compareIn(
    { servers: 5, channels: 100 },
    {
      cpu: ['an event that is not for the bot, processor', 'µs'],
      lag: [`an answer behind a burst of ${burst}, after its last event was read`, 'ms'],
      heap: [`heap after ${burst} events, more than before`, 'MB'],
    },
    bench,
    async (bot, sandbox, channels) => {
      const before = await bot.heap();
      const lag = await lagBehind(sandbox, channels);
      await delay(restMs);
      const heap = (await bot.heap()) - before;
      const cpu = await bot.cpu();
      sendBurst(sandbox, channels);
      await sandbox.delivered();
      await delay(restMs);
      return { cpu: (((await bot.cpu()) - cpu) * 1000) / burst, lag, heap };
    },
  );
}

/** What a bot holds of the machine's memory. */
export async function benchMemory(bench: Bench): Promise<void> {
  const name = 'memory';
  await compareIn(
    { servers: 100, channels: 1 },
    { idle: [`${name} in 100 servers, idle`, 'MB'], used: [`${name} after ${burst} messages there`, 'MB'] },
    bench,
    async (bot, sandbox, channels) => {
      await delay(restMs);
      const idle = await bot.residentMemory();
      sendBurst(sandbox, channels);
      await sandbox.delivered();
      await delay(restMs);
      return { idle, used: await bot.residentMemory() };
    },
  );
}

interface ChannelIds {
  readonly guildId: string;
  readonly channelId: string;
}

/** Starts a bot anew each round among so many servers with so many channels each, in which somebody has spoken an hour ago. */
async function compareIn<Key extends string>(
  size: { readonly servers: number; readonly channels: number },
  rows: Comparison<Key>['rows'],
  bench: Bench,
  sample: (
    bot: BotProcess,
    sandbox: SandboxServer,
    channels: readonly ChannelIds[],
  ) => Promise<Record<Key, number>>,
): Promise<void> {
  const open = async (startBot: typeof startFloor) => {
    let ago = 3_600_000;
    const stage = await openStage({ now: () => new Date(Date.now() - ago) });
    const { sandbox, folder } = stage;
    const channels = await addServers(sandbox, size);
    ago = 0;
    return {
      async sample() {
        const bot = await startBot({ sandbox, folder, isProbed: true });
        const values = await sample(bot, sandbox, channels);
        await bot.stop();
        return values;
      },
      close: () => stage.close(),
    };
  };
  await bench.compare({
    rows,
    rounds,
    floor: { name: 'the library with its smallest caches', subject: await open(startFloor) },
    open: (version) => open((options) => startVersion(version, options)),
  });
}

async function addServers(
  sandbox: SandboxServer,
  size: { readonly servers: number; readonly channels: number },
): Promise<readonly ChannelIds[]> {
  const added: ChannelIds[] = [];
  for (let server = 0; server < size.servers; server += 1) {
    const { id: guildId } = await sandbox.addGuild({ name: `Busy ${server}`, owner: 'alice' });
    for (let index = 0; index < size.channels; index += 1) {
      const { id } = await sandbox.addChannel({ guild: guildId, name: `busy-${server}-${index}` });
      await sandbox.say({ as: 'alice', in: id, text: 'Hello.' });
      added.push({ guildId, channelId: id });
    }
  }
  return added;
}

/** Milliseconds from when the bot has read the last event of a burst until it has answered a command that came right behind. */
async function lagBehind(sandbox: SandboxServer, channels: readonly ChannelIds[]): Promise<number> {
  sendBurst(sandbox, channels);
  const said = await sandbox.say({ as: 'alice', in: 'dm', text: '!memory help' });
  const read = sandbox.delivered().then(() => performance.now());
  await sandbox.waitForReply({ in: said.channelId, after: said.id, timeoutMs: 300_000 });
  const answered = performance.now();
  return Math.max(0, answered - (await read));
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
