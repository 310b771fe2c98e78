import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, Events, GatewayDispatchEvents, GatewayIntentBits } from 'discord.js';

import { readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { startSandboxServer, type SandboxServer } from '../../src/sandbox/sandbox-server.ts';
import { startBot } from '../../src/bot/start-bot.ts';
import { measure } from './measured.ts';

const rounds = 100;
const items = 200;

/** Says something and waits for the answer. */
async function ask(sandbox: SandboxServer, text: string): Promise<void> {
  const said = await sandbox.say({ as: 'alice', in: 'dm', text });
  await sandbox.waitForReply({ in: said.channelId, after: said.id });
}

/**
 * Times the way from a message to its reply, through the real client and a Discord and a model server on loopback that both answer at
 * once, beside a bot that does nothing but answer; with a full memory.
 */
export async function benchTurns(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-turns-'));
  const model = createServer((request, response) => {
    request
      .resume()
      .once('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer));
  });
  await new Promise<void>((resolve) => {
    model.listen(0, '127.0.0.1', resolve);
  });
  const address = model.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const sandbox = await startSandboxServer();
  const bareSandbox = await startSandboxServer();
  const bare = await startBareBot(bareSandbox);
  const { config } = readConfig({
    DISCOCLAW_ACCESS: 'everyone',
    DISCOCLAW_DATA_DIR: join(folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`,
  });
  const bot = await startBot(config, {
    token: sandbox.token,
    apiUrl: sandbox.apiUrl,
    logger: createLogger({ level: 'error' }),
    onLost: () => undefined,
  });
  const floor = { floorName: 'a bot that only answers', floor: () => ask(bareSandbox, 'Hello?') };
  try {
    for (let item = 0; item < items; item += 1)
      await ask(sandbox, `!memory remember I own teapot number ${item}`);
    await measure(
      { name: 'a turn', run: (round) => ask(sandbox, `What is teapot ${round}?`), ...floor },
      rounds,
    );
    await measure(
      { name: 'remembering', run: (round) => ask(sandbox, `!memory remember I own cup ${round}`), ...floor },
      rounds,
    );
  } finally {
    await bot.stop();
    await bare.destroy();
    await Promise.all([sandbox.close(), bareSandbox.close()]);
    model.close();
    await rm(folder, { recursive: true });
  }
}

async function startBareBot(sandbox: SandboxServer): Promise<Client> {
  const client = new Client({
    intents: [GatewayIntentBits.DirectMessages, GatewayIntentBits.MessageContent],
    rest: { api: sandbox.apiUrl.replace(/\/v\d+$/u, '') },
    partials: [],
  });
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  client.ws.on(GatewayDispatchEvents.MessageCreate, ({ author, channel_id: channelId }) => {
    if (author.bot !== true)
      void client.rest.post(`/channels/${channelId}/messages`, { body: { content: 'Hello.' } });
  });
  await client.login(sandbox.token);
  await ready;
  return client;
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
