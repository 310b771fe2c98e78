import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startBot } from '../../src/bot/start-bot.ts';
import { readConfig } from '../../src/config/config.ts';
import { startTestSandbox } from './sandbox/test-sandbox.ts';
import { watchEventLoop, type HeldLoop } from './event-loop.ts';
import type { ModelAnswer } from './model-answer.ts';
import { startModelServer, type MessagesBody } from './model-server.ts';
import { silent } from './sessions.ts';
import { shaped } from './shapes.ts';

/** Discord's most: of a message with Nitro, of the files of one, and of what one person sends before anybody can do something about it. */
const messageChars = 4000;
const fileChars = 100_000;
const mostFiles = 10;
/** Cards of one message, and the characters in all of them. */
const mostCards = 10;
const cardsChars = 6000;
const burst = 300;
const burstChars = 400;

/** The model repeats what it was told, calls memory's tools with it, and finds it worth remembering. */
function repeating(shape: () => string) {
  return (body: MessagesBody): ModelAnswer => {
    const text = shaped(shape(), messageChars);
    const start = body.system?.[0]?.text ?? '';
    const said = JSON.stringify(body.messages);
    if (start.startsWith('You find what one person says')) {
      const messageId = /\[(\d{17,20})\]/u.exec(said)?.[1] ?? '';
      return {
        json: { items: [{ kind: 'fact', quote: text.slice(0, 1000), messageId }] },
      };
    }
    if (start.startsWith('You keep the summary') || said.includes('tool_result')) return { text };
    const append = { name: 'memory_append', input: { path: 'overview.md', entry: text } };
    const search = { name: 'recall_memory', input: { query: text.slice(0, 1000) } };
    const remember = {
      name: 'remember_item',
      input: { kind: 'fact', quote: text.slice(0, 400) },
    };
    return { toolUse: [append, search, remember] };
  };
}

function cards(shape: string): readonly object[] {
  const piece = shaped(shape, cardsChars / mostCards / 4);
  const card = { title: piece, description: piece, fields: [{ name: piece, value: piece }] };
  return Array.from({ length: mostCards }, () => card);
}

export type LargestInput = keyof Awaited<ReturnType<typeof openLargestInputs>>['inputs'];

/**
 * The whole bot with a sandbox and a model on loopback. Each input resolves once its answer and the work after it
 * are done, with the longest time the loop was held.
 */
export async function openLargestInputs() {
  const folder = await mkdtemp(join(tmpdir(), 'largest-inputs-'));
  const sandbox = await startTestSandbox();
  let present = 'spaces';
  const model = await startModelServer(repeating(() => present));
  const { config } = readConfig({
    DISCOCLAW_ACCESS: 'everyone',
    DISCOCLAW_RATE_PER_MINUTE: '0',
    DISCOCLAW_DATA_DIR: join(folder, 'data'),
    DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
    DISCOCLAW_SUMMARY_EVERY_N_TURNS: '2',
    DISCOCLAW_SHORTTERM_MEMORY_ENABLED: 'true',
    DISCOCLAW_SUMMARY_TO_DURABLE_ENABLED: 'true',
    DISCORD_TOKEN: sandbox.token,
    DISCORD_API_URL: sandbox.apiUrl,
    ANTHROPIC_API_KEY: 'key',
    ANTHROPIC_BASE_URL: model.url,
  });
  const bot = await startBot(config, {
    token: sandbox.token,
    logger: silent,
    onLost: () => undefined,
  });

  async function say(text: string, files = 0, fields = {}): Promise<void> {
    const attachments = Array.from({ length: files }, (_, index) => ({
      name: `${index}.txt`,
      text: shaped(present, fileChars),
    }));
    const said = await sandbox.say({ as: 'alice', in: 'dm', text, attachments, fields });
    await sandbox.waitForReply({ in: said.channelId, after: said.id, settleMs: 100, timeoutMs: 300_000 });
  }

  async function held(shape: string, work: () => Promise<void>): Promise<HeldLoop> {
    present = shape;
    const stop = watchEventLoop();
    await work();
    return stop();
  }

  return {
    inputs: {
      'a message': (shape: string) => held(shape, () => say(shaped(shape, messageChars))),
      'ten files': (shape: string) => held(shape, () => say('What is in these?', mostFiles)),
      'a set of cards': (shape: string) =>
        held(shape, () => say('What is in these?', 0, { embeds: cards(shape) })),
      'a burst': (shape: string) =>
        held(shape, async () => {
          for (let index = 0; index < burst; index += 1) {
            await sandbox.say({ as: 'alice', in: 'dm', text: shaped(shape, burstChars) });
            // As a gateway delivers them: one after the other.
            await sleep(1);
          }
          await say('Did you get all that?');
        }),
      'what is shown': (shape: string) =>
        held(shape, async () => {
          await say(`!memory remember ${shaped(shape, 480)}`);
          await say(`!memory search ${shaped(shape, 3900)}`);
          await say(`!memory forget ${shaped(shape, 3900)}`);
          await say('!memory show');
        }),
    },
    close: async (): Promise<void> => {
      await bot.stop();
      await Promise.all([sandbox.close(), model.close()]);
      await rm(folder, { recursive: true });
    },
  };
}
