import type { ModelUsage } from '../../core/model.ts';
import { resolveModel } from './model-aliases.ts';

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
