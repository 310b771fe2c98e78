import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startSandboxServer, type SandboxServer } from '../../src/sandbox/sandbox-server.ts';
import { startChild } from '../../test/e2e/child.ts';
import { median, print } from './recall-bench.ts';

const rounds = 9;
const channelCounts = [1, 1000, 10_000];
const serverCounts = [1, 500];

/** What a bot finds when it starts. */
interface Situation {
  readonly name: string;
  readonly sandbox: SandboxServer;
  readonly folder: string;
  readonly readyTimes: number[];
  readonly answerTimes: number[];
}

/**
 * Times the first answer of the built bot [G3b], from the start of its process on, with few and many DM channels on disk and few and many
 * servers, in turns. Discord's rate limits are on.
 */
export async function benchStart(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-start-'));
  const sandboxes: SandboxServer[] = [];
  try {
    const situations: Situation[] = [];
    for (const servers of serverCounts) {
      let ago = 3_600_000;
      const sandbox = await startSandboxServer({ rateLimits: true, now: () => new Date(Date.now() - ago) });
      sandboxes.push(sandbox);
      const { guilds } = await sandbox.info();
      for (let index = Object.keys(guilds).length; index < servers; index += 1)
        await sandbox.addGuild({ name: `Server ${index}`, owner: 'alice' });
      const channels = await openDms(sandbox, Math.max(...channelCounts));
      ago = 0;
      for (const count of channelCounts) {
        const name = `${count} DM channels, ${servers} servers`;
        const own = join(folder, `${servers}-${count}`);
        for (const channel of channels.slice(0, count)) await writeChannel(join(own, 'data'), channel);
        situations.push({ name, sandbox, folder: own, readyTimes: [], answerTimes: [] });
      }
    }
    for (let round = -1; round < rounds; round += 1)
      for (const situation of situations) await startAndAsk(situation, round);
    report(situations);
  } finally {
    for (const sandbox of sandboxes) await sandbox.close();
    await rm(folder, { recursive: true });
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
async function writeChannel(data: string, { id: messageId, channelId, author }: Said): Promise<void> {
  const userId = author.id;
  const at = '2026-01-01T00:00:00.000Z';
  const place = { audience: 'dm', channelId, homeId: channelId };
  const message = { type: 'message', role: 'user', id: messageId, at, authorId: userId, author: 'Person' };
  const reach = { visibility: 'dm', homeId: channelId };
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
  };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(data, path, '..'), { recursive: true });
    await writeFile(join(data, path), `${JSON.stringify(content)}\n`);
  }
}

async function startAndAsk(situation: Situation, round: number): Promise<void> {
  const { sandbox, folder } = situation;
  const begun = performance.now();
  const bot = startChild({
    script: 'main.js',
    folder,
    environment: {
      DISCORD_TOKEN: sandbox.token,
      DISCORD_API_URL: sandbox.apiUrl,
      DISCOCLAW_ACCESS: 'everyone',
      DISCOCLAW_DATA_DIR: join(folder, 'data'),
      DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
    },
  });
  await bot.waitFor('"the bot is ready"');
  const ready = performance.now();
  const said = await sandbox.say({ as: 'alice', in: 'dm', text: 'Hello?' });
  await sandbox.waitForReply({ in: said.channelId, after: said.id, timeoutMs: 300_000 });
  const answered = performance.now();
  await bot.end('SIGTERM');
  // The first round warms up.
  if (round < 0) return;
  situation.readyTimes.push(ready - begun);
  situation.answerTimes.push(answered - begun);
}

function report(situations: readonly Situation[]): void {
  const least = Math.min(...situations.map(({ answerTimes }) => median(answerTimes)));
  for (const { name, readyTimes, answerTimes } of situations) {
    const [ready, answered] = [median(readyTimes), median(answerTimes)];
    print(
      `first answer, ${name}: ${answered.toFixed(0)} ms after the start (ready: ${ready.toFixed(0)} ms) · ratio to the fastest ${(answered / least).toFixed(2)} (${rounds} rounds)`,
    );
  }
}
