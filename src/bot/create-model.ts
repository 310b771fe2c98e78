import type { ModelChoice } from '../commands/settings-owner.ts';
import { ConfigError, type Config } from '../config/config.ts';
import type { Logger } from '../core/logger.ts';
import { noUsage, type CallBudget, type ModelClient } from '../core/model.ts';
import type { BotSettings } from '../memory/settings/bot-settings.ts';
import { shareOf } from '../memory/recall/words.ts';
import { callCost, resolveModel } from '../model/anthropic/models.ts';
import { createOfflineClient } from '../model/offline/offline-client.ts';

/** Calls that may wait for a free place [M7]. */
const queueLimit = 50;

/** The configured model; without key and base URL, the offline stand-in [M2]. */
export async function createModel(
  config: Config['model'],
  logger: Logger,
  budget?: CallBudget,
): Promise<ModelClient> {
  const { apiKey, baseUrl, concurrency, idleTimeoutMs, totalTimeoutMs, prices, contextTokens } = config;
  if (isOffline(config)) return createOfflineClient({ shareOf });
  // The SDK is slow to load.
  const { createAnthropicClient } = await import('../model/anthropic/anthropic-client.ts');
  return createAnthropicClient({
    apiKey,
    baseUrl,
    budget,
    prices,
    concurrency,
    queueLimit,
    idleTimeoutMs,
    totalTimeoutMs,
    contextTokens,
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
  const problems = used.flatMap(([name, value]) => {
    const problem = value === undefined ? undefined : priceProblem({ model, limits }, value);
    return problem === undefined ? [] : `${name}: ${problem}`;
  });
  if (transcription.url !== undefined && transcription.minutePrice === undefined)
    problems.push(
      'DISCOCLAW_TRANSCRIBE_PRICE: what a minute of a voice message costs is not known, and a limit on cost needs it: give it in US dollars (0 where it costs nothing)',
    );
  if (problems.length > 0) throw new ConfigError(problems);
}

/** What to do where a limit on cost needs the price of a model that is not known [L2]. */
function priceProblem({ model, limits }: Pick<Config, 'model' | 'limits'>, name: string): string | undefined {
  const isLimited = (limits.dailyCost ?? limits.dailyCostPerPerson) !== undefined && !isOffline(model);
  if (!isLimited || callCost(name, noUsage, model.prices) !== undefined) return undefined;
  return `the price of ${JSON.stringify(name)} is not known, and a limit on cost needs it: give it in DISCOCLAW_MODEL_PRICES, as ${name}=INPUT/OUTPUT in US dollars per million tokens (${name}=0/0 where it costs nothing)`;
}

/** Milliseconds that an owner waits for the list. */
const listPatienceMs = 10_000;

/** The models that the server lists, none where it lists none. Never rejects. */
export async function listServedModels(config: Config['model']): Promise<readonly string[]> {
  const { listModels } = await import('../model/anthropic/anthropic-client.ts');
  const listed = await listModels({ ...config, timeoutMs: listPatienceMs });
  return listed === 'key' ? [] : listed;
}

/** Which model answers people: the one that an owner chose, else the configured one [M10]. */
export function createModelChoice(
  config: Pick<Config, 'model' | 'limits'>,
  botSettings: BotSettings,
  list: ModelChoice['list'],
): ModelChoice {
  const { main: configured } = config.model;
  const problemWith = (name: string) => priceProblem(config, name);
  return {
    list,
    configured,
    isOffline: isOffline(config.model),
    idOf: resolveModel,
    problemWith,
    async current() {
      const { model = configured } = await botSettings.read().catch(() => ({ model: undefined }));
      // A limit or a price may have been changed since.
      return problemWith(model) === undefined ? model : configured;
    },
    choose: (model) => botSettings.change((settings) => ({ ...settings, model })),
  };
}
