import type { CacheLife, ModelUsage } from '../../core/model.ts';

/** Of the prices in {@link models}. */
export const priceListDate = '2026-10-24';

interface ListedModel {
  readonly id: string;
  /** US dollars a million tokens. */
  readonly input: number;
  readonly output: number;
  /** The price of reading the cache, as a multiple of plain input. */
  readonly cacheRead: number;
  /** With a longer prompt, every token of the call costs `factor` times as much. */
  readonly longPrompt?: { readonly tokens: number; readonly factor: number };
}

/** By alias, at the vendor's list prices. */
const models: Readonly<Record<string, ListedModel>> = {
  haiku: {
    id: 'claude-haiku-5-5',
    input: 0.1,
    output: 0.5,
    cacheRead: 0.1,
    longPrompt: { tokens: 100_000, factor: 5 },
  },
  sonnet: { id: 'claude-sonnet-5-5', input: 2, output: 10, cacheRead: 0.05 },
  opus: { id: 'claude-opus-5-5', input: 4, output: 20, cacheRead: 0.05 },
};

/** The price of writing the cache, as a multiple of plain input. */
const cacheWrite: Readonly<Record<CacheLife, number>> = { '5m': 1.25, '1h': 2 };

/** The operator's prices in US dollars a million tokens, by alias or id. */
export type OwnPrices = Readonly<Record<string, { readonly input: number; readonly output: number }>>;

const byId = new Map<string, ListedModel>(Object.values(models).map((model) => [model.id, model]));

/** The vendor's id for an alias; any other name is an id already [M1]. */
export function resolveModel(name: string): string {
  return models[name]?.id ?? name;
}

/** Whether the model is known to think first and take an effort level. */
export function thinksFirst(modelId: string): boolean {
  return byId.has(modelId);
}

/** US dollars, at the operator's prices or list prices; `undefined` where the price is not known. */
export function callCost(model: string, usage: ModelUsage, own: OwnPrices = {}): number | undefined {
  const listed = priceOf(model, own);
  if (listed === undefined) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, cacheHourTokens } = usage;
  const input =
    inputTokens +
    cacheReadTokens * listed.cacheRead +
    (cacheWriteTokens - cacheHourTokens) * cacheWrite['5m'] +
    cacheHourTokens * cacheWrite['1h'];
  const dollars = (input * listed.input + outputTokens * listed.output) / 1_000_000;
  const { tokens, factor } = listed.longPrompt ?? { tokens: Infinity, factor: 1 };
  return inputTokens + cacheReadTokens + cacheWriteTokens > tokens ? dollars * factor : dollars;
}

/** Without a list price, reading the cache counts as plain input. */
function priceOf(model: string, own: OwnPrices): Omit<ListedModel, 'id'> | undefined {
  const id = resolveModel(model);
  const listed = byId.get(id);
  const [, alias] = Object.entries(own).find(([name]) => resolveModel(name) === id) ?? [];
  return alias === undefined ? listed : { ...alias, cacheRead: listed?.cacheRead ?? 1 };
}
