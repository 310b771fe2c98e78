import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startBot } from '../src/bot/start-bot.ts';
import { readConfig, type Environment } from '../src/config/config.ts';
import { createLogger } from '../src/observability/logger.ts';
import { startTestSandbox, type TestSandbox } from '../test/support/sandbox/test-sandbox.ts';

/** Has everybody talk with the bot in a sandbox, over a folder that `prepare` is given first; leaves nothing behind. */
export async function withSandboxBot<T>(
  prepare: (sandbox: TestSandbox, folder: string) => Promise<Environment>,
  work: (sandbox: TestSandbox, bot: Awaited<ReturnType<typeof startBot>>) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'discoclaw-script-'));
  const sandbox = await startTestSandbox();
  try {
    const { config: wanted } = readConfig({
      DISCOCLAW_ACCESS: 'everyone',
      DISCOCLAW_DATA_DIR: join(folder, 'data'),
      DISCOCLAW_WORKSPACE_DIR: join(folder, 'workspace'),
      ...(await prepare(sandbox, folder)),
    });
    const { token, apiUrl } = sandbox;
    const discord = { ...wanted.discord, apiUrl };
    const config = { ...wanted, discord, page: { ...wanted.page, isOn: true } };
    const logger = createLogger({ level: 'error' });
    const bot = await startBot(config, { token, logger, onLost: (error) => console.error(error) });
    try {
      return await work(sandbox, bot);
    } finally {
      await bot.stop();
    }
  } finally {
    await sandbox.close();
    await rm(folder, { recursive: true });
  }
}
