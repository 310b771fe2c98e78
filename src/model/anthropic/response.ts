import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { ModelError } from '../../core/errors.ts';
import type { ModelResponse } from '../../core/model.ts';

/** What a model thought, kept as it came; other vendors' thoughts do not match. */
export const reasoningSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
]);

const stops: ReadonlyMap<string, ModelResponse['stop']> = new Map<string, ModelResponse['stop']>([
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
const count = z
  .number()
  .min(0)
  .nullish()
  .transform((counted) => counted ?? 0);
const messageSchema = z.object({
  id: z.string().optional().catch(undefined),
  content: z.array(z.looseObject({})),
  // Other servers may leave it out of a message that is whole.
  stop_reason: z.string().nullish(),
  usage: z
    .object({
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
      cache_creation: z.object({ ephemeral_1h_input_tokens: count }).nullish(),
    })
    .nullish(),
  diagnostics: z
    .object({ cache_miss_reason: z.object({ type: z.string() }) })
    .optional()
    .catch(undefined),
});

/**
 * A message of the Messages API as a response [M7], with its id. @throws {ModelError} `invalid` where it is none: no content, an empty
 * one (a refusal may be), an unknown stop reason, a tool call whose input is no object. A tool call that the output limit cut is left out.
 */
export function readMessage(told: unknown): {
  readonly id: string | undefined;
  readonly response: ModelResponse;
} {
  const message = parsed(messageSchema, told);
  const { usage, diagnostics } = message;
  const stop = stops.get(message.stop_reason ?? 'end_turn');
  if (stop === undefined) throw invalid('stopped for an unknown reason');
  const content = message.content.flatMap((block) => contentOf(block, stop));
  const callsTools = content.some((block) => block.type === 'tool_use');
  const saysSomething = content.some((block) => block.type === 'text' && block.text.trim() !== '');
  if (!callsTools && !saysSomething && stop !== 'refusal') throw invalid('is empty');
  if (stop === 'tool_use' && !callsTools) throw invalid('announces a tool call and has none');
  return {
    id: message.id,
    response: {
      content,
      stop: stop === 'end' && callsTools ? 'tool_use' : stop,
      usage: {
        inputTokens: usage?.input_tokens ?? 0,
        outputTokens: usage?.output_tokens ?? 0,
        cacheReadTokens: usage?.cache_read_input_tokens ?? 0,
        cacheWriteTokens: usage?.cache_creation_input_tokens ?? 0,
        cacheHourTokens: usage?.cache_creation?.ephemeral_1h_input_tokens ?? 0,
      },
      ...(diagnostics && { cacheMiss: diagnostics.cache_miss_reason.type }),
    },
  };
}

function contentOf(block: object, stop: ModelResponse['stop']): ModelResponse['content'] {
  switch (Object(block).type) {
    case 'text': {
      const { text } = parsed(textSchema, block);
      return text === '' ? [] : [{ type: 'text', text }];
    }
    case 'tool_use':
      return stop === 'cut' || stop === 'refusal' ? [] : [parsed(toolUseSchema, block)];
    default: {
      const reasoning = reasoningSchema.safeParse(block);
      return reasoning.success ? [{ type: 'reasoning', vendor: reasoning.data }] : [];
    }
  }
}

/** By names of fields alone: the values may be people's words. */
function parsed<Value>(schema: z.ZodType<Value>, told: unknown): Value {
  const { data, error } = schema.safeParse(told);
  if (error === undefined) return data;
  const path = error.issues[0]?.path.join('.') ?? '';
  throw invalid(path === '' ? 'is not a message' : `is malformed at ${path}`);
}

function invalid(what: string): ModelError {
  return new ModelError(`The model's answer ${what}`, 'invalid');
}
