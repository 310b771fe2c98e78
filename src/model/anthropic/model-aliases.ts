import type { Model } from '@anthropic-ai/sdk/resources/messages';

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
