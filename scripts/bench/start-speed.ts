import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import type { SandboxServer } from '../../src/sandbox/sandbox-server.ts';
import { openStage, startFloor, startVersion } from './bots.ts';
import type { Bench, Subject } from './measured.ts';
import { ours } from './versions.ts';

const rounds = 7;
/** How many people a bot finds on disk that starts, and how many servers. */
const situations = [
  { people: 1, servers: 1 },
  { people: 200, servers: 1 },
  { people: 2000, servers: 1 },
  { people: 10_000, servers: 1 },
  { people: 10_000, servers: 500 },
];
/** An earlier version takes minutes to start among more. */
const mostForOthers = 2000;
/** Until a process that has nothing to do has come to rest; milliseconds. */
const restMs = 1000;

/**
 * From the start of the built bot's process until it is ready, and until its first answer [G3b], and what it holds of the machine's memory then, beside
 * a bot that only logs in. Discord's rate limits are on.
 */
export async function benchStart(bench: Bench): Promise<void> {
  for (const servers of new Set(situations.map((situation) => situation.servers))) {
    let ago = 3_600_000;
    const stage = await openStage({ rateLimits: true, now: () => new Date(Date.now() - ago) });
    try {
      const { sandbox } = stage;
      const { guilds } = await sandbox.info();
      for (let index = Object.keys(guilds).length; index < servers; index += 1)
        await sandbox.addGuild({ name: `Server ${index}`, owner: 'alice' });
      const inIt = situations.filter((situation) => situation.servers === servers);
      const conversations = await openDms(sandbox, Math.max(...inIt.map(({ people }) => people)));
      ago = 0;
      for (const { people } of inIt) {
        const open = async (
          name: string,
          startBot: typeof startFloor,
        ): Promise<Subject<'ready' | 'answer' | 'idle'>> => {
          const folder = join(stage.folder, `${people}-${name.replaceAll('/', '-')}`);
          for (const conversation of conversations.slice(0, people))
            await writePerson(join(folder, 'data'), conversation);
          return { sample: () => startAndAsk(startBot, sandbox, folder) };
        };
        const where = `${people} people, ${servers} servers`;
        await bench.compare({
          rows: {
            ready: [`ready, ${where}`, 'ms'],
            answer: [`first answer, ${where}`, 'ms'],
            idle: [`memory, idle, ${where}`, 'MB'],
          },
          rounds,
          floor: { name: 'a bot that only logs in', subject: await open('floor', startFloor) },
          open: async (version) =>
            version !== ours && people > mostForOthers
              ? undefined
              : open(version.name, (options) => startVersion(version, options)),
        });
      }
    } finally {
      await stage.close();
    }
  }
}

type Said = Awaited<ReturnType<SandboxServer['say']>>;

/** A conversation each with so many people, Alice first. */
async function openDms(sandbox: SandboxServer, count: number): Promise<readonly Said[]> {
  const said: Said[] = [];
  for (let index = 0; index < count; index += 1) {
    const person = index === 0 ? 'alice' : `person${index}`;
    if (index > 0) await sandbox.addPerson({ name: person });
    said.push(await sandbox.say({ as: person, in: 'dm', text: 'Hello.' }));
  }
  return said;
}

/** What a conversation leaves on disk. */
async function writePerson(data: string, { id: messageId, channelId, author }: Said): Promise<void> {
  const userId = author.id;
  const at = '2026-01-01T00:00:00.000Z';
  const place = { audience: 'dm', channelId, homeId: channelId };
  const message = { type: 'message', role: 'user', id: messageId, at, authorId: userId, author: 'Person' };
  const reach = { visibility: 'dm', homeId: channelId };
  const items = Array.from({ length: 20 }, (_, index) => ({ text: `I own teapot number ${index}` }));
  const files = {
    [`channels/${channelId}/journal.jsonl`]: {
      sequence: 1,
      record: { kind: 'handled', messageIds: [messageId] },
    },
    [`sessions/${channelId}/${userId}/messages.jsonl`]: {
      sequence: 1,
      record: { ...message, text: 'Hello.', attachments: [], ...reach },
    },
    [`sessions/${channelId}/${userId}/state.json`]: { version: 1, place, speakerName: 'Person' },
    [`users/${userId}/durable.json`]: { version: 1, items },
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(data, path, '..'), { recursive: true });
    await writeFile(join(data, path), `${JSON.stringify(content)}\n`);
  }
}

async function startAndAsk(startBot: typeof startFloor, sandbox: SandboxServer, folder: string) {
  const begun = performance.now();
  const bot = await startBot({ sandbox, folder });
  const said = await sandbox.say({ as: 'alice', in: 'dm', text: 'Hello?' });
  await sandbox.waitForReply({ in: said.channelId, after: said.id, timeoutMs: 300_000 });
  const answer = performance.now() - begun;
  await delay(restMs);
  const idle = await bot.residentMemory();
  await bot.stop();
  return { ready: bot.readyAfter, answer, idle };
}
