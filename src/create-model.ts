import type { Config } from './config/config.ts';
import type { Logger } from './core/logger.ts';
import type { ModelClient } from './core/model.ts';
import { createAnthropicClient } from './model/anthropic/anthropic-client.ts';
import { createOfflineClient } from './model/offline/offline-client.ts';

/** Calls that may wait for a free place; the next one is told that the bot is busy [M7]. */
const queueLimit = 50;

/** The model as configured: without key and base URL the offline stand-in [M2]. */
export function createModel(config: Config['model'], logger: Logger): ModelClient {
  const { apiKey, baseUrl, concurrency, idleTimeoutMs, totalTimeoutMs } = config;
  if (apiKey === undefined && baseUrl === undefined) return createOfflineClient();
  return createAnthropicClient({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    concurrency,
    queueLimit,
    idleTimeoutMs,
    totalTimeoutMs,
    logger,
    onUsage: (usage, purpose, name) => logger.info('the model was used', { purpose, model: name, ...usage }),
  });
}
