import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { startTestSandbox } from '../support/sandbox/test-sandbox.ts';
import { playMalformedPayloads } from '../discord/payloads-property.ts';
import { startChild } from '../e2e/child.ts';

const payloads = Number(process.env['PAYLOADS'] ?? 100_000);
const seed = Number(process.env['PAYLOADS_SEED'] ?? Date.now() % 1_000_000);
/** Milliseconds: most of a night. */
const timeout = 8 * 3_600_000;

it('malformed payloads neither end the process nor silence a channel [L5]', { timeout }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-payloads-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const server = await startTestSandbox();
  onTestFinished(() => server.close());
  const bot = startChild({
    folder,
    environment: {
      DISCORD_TOKEN: server.token,
      DISCORD_API_URL: server.apiUrl,
      DISCOCLAW_ACCESS: 'everyone',
      DISCOCLAW_DATA_DIR: join(folder, 'data'),
      DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
      DISCOCLAW_LOG_LEVEL: 'warn',
    },
  });
  onTestFinished(() => bot.end('SIGKILL').then(() => undefined));
  await expect.poll(async () => (await server.sessions()).length).toBe(1);
  let exits = 0;
  void bot.exited.then(() => (exits += 1));
  const answered = async (place: string, text: string): Promise<void> => {
    const said = await server.say({ as: 'alice', in: place, text, mentionBot: true });
    await server
      .waitForReply({ in: place === 'dm' ? said.channelId : place, after: said.id, timeoutMs: 60_000 })
      .catch((error: unknown) => {
        throw new Error(
          `No answer to "${text}" with seed ${seed}; the bot has said:\n${bot.output().slice(-5000)}`,
          {
            cause: error,
          },
        );
      });
  };
  await playMalformedPayloads(server, { count: payloads, seed, answered });
  expect(exits).toBe(0);
  expect(await bot.end('SIGTERM')).toBe(0);
});
