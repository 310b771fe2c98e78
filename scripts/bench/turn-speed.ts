import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';

import type { SandboxServer } from '../../src/sandbox/sandbox-server.ts';
import { openStage, startFloor, startVersion, type BotProcess } from './bots.ts';
import { print, type Bench, type Subject } from './measured.ts';

const rounds = 11;
const turnsARound = 10;
const items = 200;
/** What follows behind the answers is done by then, and discord.js, which sends fifty requests a second at most, may send as many again; milliseconds. */
const restMs = 1100;
const rows = {
  time: ['a turn', 'ms'],
  cpu: ['a turn, processor', 'ms'],
  calls: ['a turn, system calls', 'calls'],
  syncs: ['a turn, syncs', 'calls'],
  rememberTime: ['remember through a message', 'ms'],
  rememberCpu: ['remember through a message, processor', 'ms'],
} as const;

/**
 * The way from a message to its reply, with a full memory, through a Discord and a model server on loopback that both answer at once, beside a bot
 * that does nothing else; the processor's time, the calls and the syncs include what comes after the replies.
 */
export async function benchTurns(bench: Bench): Promise<void> {
  const model = await startInstantModel();
  const canTrace = await hasStrace();
  if (!canTrace) print('A turn’s system calls are left out: there is no strace.');
  const subjectOf = async (
    startBot: typeof startFloor,
    known: number,
  ): Promise<Subject<keyof typeof rows>> => {
    const stage = await openStage();
    const { sandbox, folder } = stage;
    const bot = await startBot({ sandbox, folder, environment: { MODEL_URL: model.url }, isProbed: true });
    for (let item = 0; item < known; item += 1)
      await ask(sandbox, `!memory remember I own teapot number ${item}`);
    return {
      async sample(round) {
        const turn = (index: number) => ask(sandbox, `What is teapot ${turnsARound * round + index}?`);
        const remember = (index: number) =>
          ask(sandbox, `!memory remember I own cup ${turnsARound * round + index}`);
        const turns = await timed(bot, turn);
        const remembered = await timed(bot, remember);
        const calls = canTrace ? await traced(bot, folder, turn) : {};
        return { ...turns, rememberTime: remembered.time, rememberCpu: remembered.cpu, ...calls };
      },
      async close() {
        await bot.stop();
        await stage.close();
      },
    };
  };
  try {
    await bench.compare({
      rows,
      rounds,
      floor: {
        name: 'a bot that logs both lines and asks the model',
        subject: await subjectOf(startFloor, 0),
      },
      open: (version) => subjectOf((options) => startVersion(version, options), items),
    });
  } finally {
    model.close();
  }
}

/** Says something and waits for the answer. */
async function ask(sandbox: SandboxServer, text: string): Promise<void> {
  const said = await sandbox.say({ as: 'alice', in: 'dm', text });
  await sandbox.waitForReply({ in: said.channelId, after: said.id });
}

async function repeat(work: (turn: number) => Promise<void>): Promise<void> {
  for (let turn = 0; turn < turnsARound; turn += 1) await work(turn);
}

async function timed(bot: BotProcess, work: (turn: number) => Promise<void>) {
  const cpu = await bot.cpu();
  const begun = performance.now();
  await repeat(work);
  const time = performance.now() - begun;
  await setTimeout(restMs);
  return { time: time / turnsARound, cpu: ((await bot.cpu()) - cpu) / turnsARound };
}

async function hasStrace(): Promise<boolean> {
  return promisify(execFile)('strace', ['-V']).then(
    () => true,
    () => false,
  );
}

/** Calls and syncs of all threads of a bot while it works, those that wait for the next thing included; not the writes that are synced in one call, which a test counts. */
async function traced(bot: BotProcess, folder: string, work: (turn: number) => Promise<void>) {
  const table = join(folder, 'strace.txt');
  const strace = spawn('strace', ['-c', '-f', '-p', String(bot.pid), '-o', table], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await once(strace.stderr, 'data');
  await repeat(work);
  await setTimeout(restMs);
  strace.kill('SIGINT');
  await once(strace, 'close');
  const calls = new Map(
    Array.from(
      (await readFile(table, 'utf8')).matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +(\d+) +(?:\d+ +)?(\w+)$/gmu),
      ([, count, name]) => [name ?? '', Number(count)],
    ),
  );
  const syncs = (calls.get('fsync') ?? 0) + (calls.get('fdatasync') ?? 0);
  const all = calls.get('total') ?? NaN;
  return { calls: all / turnsARound, syncs: syncs / turnsARound };
}

/** A model server that answers every call alike and at once. */
export async function startInstantModel() {
  const server = createServer((request, response) => {
    request
      .resume()
      .once('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

const answer = [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'bench',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello.' } },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
]
  .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  .join('');
