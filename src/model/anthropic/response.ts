import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { ModelError } from '../../core/errors.ts';
import type { ModelResponse } from '../../core/model.ts';

const count = z
  .number()
  .nonnegative()
  .nullish()
  .transform((value) => value ?? 0);
const messageSchema = z.object({
  content: z.array(z.looseObject({ type: z.string() })),
  stop_reason: z.string().nullish(),
  diagnostics: z
    .object({ cache_miss_reason: z.object({ type: z.string() }).nullish() })
    .nullish()
    .catch(undefined),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
      cache_creation: z.object({ ephemeral_1h_input_tokens: count }).nullish(),
    })
    .nullish(),
});
const textSchema = z.object({ type: z.literal('text'), text: z.string() });
const toolUseSchema = z.object({
  type: z.literal('tool_use'),
  /** Some servers give none, or an empty one. */
  id: z
    .string()
    .nullish()
    .transform((id) => id || `toolu_${randomUUID()}`),
  name: z.string().min(1),
  input: z.record(z.string(), z.unknown()),
});
/** What a model thought, kept as it came; other vendors' thoughts do not match. */
export const reasoningSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
]);

type Stop = ModelResponse['stop'];
const stops: ReadonlyMap<string, Stop> = new Map<string, Stop>([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'cut'],
  ['model_context_window_exceeded', 'cut'],
  ['refusal', 'refusal'],
  // As gateways to other vendors' models pass them on.
  ['stop', 'end'],
  ['tool_calls', 'tool_use'],
  ['length', 'cut'],
  ['content_filter', 'refusal'],
]);

/**
 * A message of the Messages API as a response [M7]. @throws {ModelError} `invalid` where it is none: no content, an empty
 * one (a refusal may be), an unknown stop reason, a tool call whose input is no object. A tool call that the output limit cut is left out.
 */
export function modelResponse(message: unknown): ModelResponse {
  const parsed = messageSchema.safeParse(message);
  if (!parsed.success) throw invalid('is not a message');
  const { content: blocks, stop_reason: reason, usage, diagnostics } = parsed.data;
  const cacheMiss = diagnostics?.cache_miss_reason?.type;
  // Other servers may leave it out of a message that is whole.
  const stop = stops.get(reason ?? 'end_turn');
  if (stop === undefined) throw invalid('stopped for an unknown reason');

  const content = blocks.flatMap((block) => contentOf(block, stop));
  const callsTools = content.some((block) => block.type === 'tool_use');
  const saysSomething = content.some((block) => block.type === 'text' && block.text.trim() !== '');
  if (!callsTools && !saysSomething && stop !== 'refusal') throw invalid('is empty');
  if (stop === 'tool_use' && !callsTools) throw invalid('announces a tool call and has none');
  return {
    content,
    stop: stop === 'end' && callsTools ? 'tool_use' : stop,
    usage: {
      inputTokens: usage?.input_tokens ?? 0,
      outputTokens: usage?.output_tokens ?? 0,
      cacheReadTokens: usage?.cache_read_input_tokens ?? 0,
      cacheWriteTokens: usage?.cache_creation_input_tokens ?? 0,
      cacheHourTokens: usage?.cache_creation?.ephemeral_1h_input_tokens ?? 0,
    },
    ...(cacheMiss === undefined ? {} : { cacheMiss }),
  };
}

function contentOf(block: { readonly type: string }, stop: Stop): ModelResponse['content'] {
  switch (block.type) {
    case 'text': {
      const text = textSchema.safeParse(block);
      if (!text.success) throw invalid('has a text block without text');
      return text.data.text === '' ? [] : [text.data];
    }
    case 'tool_use': {
      if (stop === 'cut' || stop === 'refusal') return [];
      const call = toolUseSchema.safeParse(block);
      if (!call.success) throw invalid('has a malformed tool call');
      return [call.data];
    }
    default: {
      const reasoning = reasoningSchema.safeParse(block);
      return reasoning.success ? [{ type: 'reasoning', vendor: reasoning.data }] : [];
    }
  }
}

function invalid(what: string): ModelError {
  return new ModelError(`The model's answer ${what}`, 'invalid');
}
