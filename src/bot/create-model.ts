import { ConfigError, type Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import { noUsage, type CallBudget, type ModelClient } from '../core/model.ts';
import { shareOf } from '../memory/recall/words.ts';
import { callCost } from '../model/anthropic/models.ts';
import { createOfflineClient } from '../model/offline/offline-client.ts';

/** Calls that may wait for a free place [M7]. */
const queueLimit = 50;

/** The configured model; without key and base URL, the offline stand-in [M2]. */
export async function createModel(
  config: Config['model'],
  logger: Logger,
  budget?: CallBudget,
): Promise<ModelClient> {
  const { apiKey, baseUrl, concurrency, idleTimeoutMs, totalTimeoutMs, prices } = config;
  if (isOffline(config)) return createOfflineClient({ shareOf });
  // The SDK is slow to load.
  const { createAnthropicClient } = await import('../model/anthropic/anthropic-client.ts');
  return createAnthropicClient({
    apiKey,
    baseUrl,
    // Other servers may not know the field.
    asksForCacheMisses: baseUrl === undefined,
    budget,
    prices,
    concurrency,
    queueLimit,
    idleTimeoutMs,
    totalTimeoutMs,
    logger,
  });
}

function isOffline({ apiKey, baseUrl }: Config['model']): boolean {
  return apiKey === undefined && baseUrl === undefined;
}

/** A limit on cost needs the price of each model [L2]. @throws {ConfigError} */
export function assertPricesKnown({ model, summary, transcription, limits }: Config): void {
  if ((limits.dailyCost ?? limits.dailyCostPerPerson) === undefined) return;
  const used = [
    ['DISCOCLAW_MODEL', model.main],
    ['DISCOCLAW_FALLBACK_MODEL', model.fallback],
    ['DISCOCLAW_FAST_MODEL', model.fast],
    ['DISCOCLAW_SUMMARY_MODEL', summary.enabled ? summary.model : undefined],
  ] as const;
  const problems = used.flatMap(([name, value]) =>
    isOffline(model) || value === undefined || callCost(value, noUsage, model.prices) !== undefined
      ? []
      : [
          `${name}: the price of ${JSON.stringify(value)} is not known, and a limit on cost needs it: give it in DISCOCLAW_MODEL_PRICES, as ${value}=INPUT/OUTPUT in US dollars per million tokens (${value}=0/0 where it costs nothing)`,
        ],
  );
  if (transcription.url !== undefined && transcription.minutePrice === undefined)
    problems.push(
      'DISCOCLAW_TRANSCRIBE_PRICE: what a minute of a voice message costs is not known, and a limit on cost needs it: give it in US dollars (0 where it costs nothing)',
    );
  if (problems.length > 0) throw new ConfigError(problems);
}
