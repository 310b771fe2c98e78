import type { Model } from '@anthropic-ai/sdk/resources/messages';

import type { ModelUsage } from '../../core/model.ts';

/** The ids that the SDK knows by name; its `Model` type admits any other string besides. */
type KnownModel = Model extends infer Id
  ? Id extends string
    ? string extends Id
      ? never
      : Id
    : never
  : never;

const aliases: ReadonlyMap<string, KnownModel> = new Map([
  ['haiku', 'claude-haiku-5-5'],
  ['sonnet', 'claude-sonnet-5-5'],
  ['opus', 'claude-opus-5-5'],
]);
const current: ReadonlySet<string> = new Set(aliases.values());

/** The vendor's id for `haiku`, `sonnet` or `opus`; any other name is taken for an id and stays as it is [M1]. */
export function resolveModel(name: string): string {
  return aliases.get(name) ?? name;
}

/** Whether the model thinks before it answers and takes an effort level; of ids that no alias stands for that is not known. */
export function thinksFirst(modelId: string): boolean {
  return current.has(modelId);
}

/** The day of the price list that {@link callCost} goes by. */
export const priceListDate = '2026-10-24';

/** US dollars a million tokens; the cache is written for five minutes. */
interface Price {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

/** The vendor's list prices of the models that the aliases stand for. */
const prices: ReadonlyMap<string, Price> = new Map([
  [resolveModel('haiku'), { input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125 }],
  [resolveModel('sonnet'), { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 }],
  [resolveModel('opus'), { input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 }],
]);

/** For a prompt of more than 100,000 tokens, every token of the call. */
const longPrompt = { tokens: 100_000, factor: 5, model: resolveModel('haiku') };

/** US dollars of a call at list prices, by alias or id; `undefined` where the price is not known. */
export function callCost(model: string, usage: ModelUsage): number | undefined {
  const id = resolveModel(model);
  const price = prices.get(id);
  if (price === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const dollars =
    (inputTokens * price.input +
      outputTokens * price.output +
      cacheReadTokens * price.cacheRead +
      cacheWriteTokens * price.cacheWrite) /
    1_000_000;
  const isLong =
    id === longPrompt.model && inputTokens + cacheReadTokens + cacheWriteTokens > longPrompt.tokens;
  return isLong ? dollars * longPrompt.factor : dollars;
}
