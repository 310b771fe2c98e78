import { randomUUID } from 'node:crypto';

import type { RedactedThinkingBlockParam, ThinkingBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';

import { ModelError } from '../../core/errors.ts';
import {
  noUsage,
  textOf,
  type ModelResponse,
  type ModelUsage,
  type ReasoningBlock,
} from '../../core/model.ts';

export const stops: ReadonlyMap<unknown, ModelResponse['stop']> = new Map<unknown, ModelResponse['stop']>([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'cut'],
  ['model_context_window_exceeded', 'cut'],
  ['refusal', 'refusal'],
  // From gateways to other vendors' models.
  ['stop', 'end'],
  ['tool_calls', 'tool_use'],
  ['length', 'cut'],
  ['content_filter', 'refusal'],
]);

/** Thoughts that can be sent back, signed or not [M15]; other vendors' have another form. */
export function isReasoning(block: unknown): block is ThinkingBlockParam | RedactedThinkingBlockParam {
  const { type, thinking, data }: Record<string, unknown> = Object(block);
  return typeof (type === 'thinking' ? thinking : type === 'redacted_thinking' && data) === 'string';
}

const blockSchema = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    /** Some servers leave it out or empty. */
    id: z
      .string()
      .nullish()
      .transform((id) => id || `toolu_${randomUUID()}`),
    name: z.string().min(1),
    /** `undefined` where it broke off or is not an object. */
    input: z.record(z.string(), z.unknown()).optional().catch(undefined),
  }),
  z
    .custom<ReasoningBlock['vendor']>(isReasoning)
    .transform((vendor) => ({ type: 'reasoning' as const, vendor })),
  z
    .looseObject({ type: z.unknown().refine((type) => type !== 'text' && type !== 'tool_use') })
    .transform(() => ({ type: 'unknown' as const })),
]);

const count = z
  .number()
  .min(0)
  .nullish()
  .transform((counted) => counted ?? 0);

const usageSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    cache_creation: z.object({ ephemeral_1h_input_tokens: count }).nullish(),
  })
  .transform((counts): ModelUsage => ({
    inputTokens: counts.input_tokens,
    outputTokens: counts.output_tokens,
    cacheReadTokens: counts.cache_read_input_tokens,
    cacheWriteTokens: counts.cache_creation_input_tokens,
    cacheHourTokens: counts.cache_creation?.ephemeral_1h_input_tokens ?? 0,
  }));

const messageSchema = z.object({
  content: z.array(blockSchema),
  // Other servers may leave it out.
  stop_reason: z
    .string()
    .nullish()
    .transform((reason) => stops.get(reason ?? 'end_turn')),
  usage: usageSchema.nullish(),
});

/** Leaves out tool calls that the output limit cut [M7]. @throws {ModelError} `invalid` for anything malformed. */
export function readMessage(raw: unknown): ModelResponse {
  const { data: message, error } = messageSchema.safeParse(raw);
  // Names fields only: values may be people's words.
  if (error !== undefined) {
    const path = error.issues[0]?.path.join('.') ?? '';
    throw invalid(path === '' ? 'is not a message' : `is malformed at ${path}`);
  }
  const { stop_reason: stop, usage } = message;
  if (stop === undefined) throw invalid('stopped for an unknown reason');
  const content = message.content.flatMap((block): ModelResponse['content'] => {
    if (block.type === 'unknown' || (block.type === 'text' && block.text === '')) return [];
    if (block.type !== 'tool_use') return [block];
    if (stop === 'cut' || stop === 'refusal') return [];
    if (block.input === undefined) throw invalid('calls a tool with something other than an object');
    return [{ ...block, input: block.input }];
  });
  const callsTools = content.some((block) => block.type === 'tool_use');
  return {
    content,
    // One that is announced may be written in the text.
    stop: stop === 'end' || stop === 'tool_use' ? (callsTools ? 'tool_use' : 'end') : stop,
    usage: usage ?? noUsage,
  };
}

/** Neither words nor a call nor a refusal [M15]. */
export function isEmpty({ content, stop }: ModelResponse): boolean {
  return stop !== 'refusal' && stop !== 'tool_use' && textOf(content).trim() === '';
}

function invalid(what: string): ModelError {
  return new ModelError(`The model's answer ${what}`, 'invalid');
}
