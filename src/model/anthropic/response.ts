import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { ModelError } from '../../core/errors.ts';
import type { ModelResponse } from '../../core/model.ts';
import { isFields, type Fields } from './stream-events.ts';

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
const stops: ReadonlyMap<unknown, Stop> = new Map<string, Stop>([
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
  // By hand, as every answer passes here: a schema takes five times as long.
  const { content: blocks, stop_reason: reason, usage, diagnostics } = partsOf(message);
  if (!Array.isArray(blocks)) throw notAMessage();
  // Other servers may leave it out of a message that is whole.
  const stop = stops.get(reason ?? 'end_turn');
  if (stop === undefined) throw invalid('stopped for an unknown reason');

  const content = blocks.flatMap((block) => contentOf(partsOf(block), stop));
  const callsTools = content.some((block) => block.type === 'tool_use');
  const saysSomething = content.some((block) => block.type === 'text' && block.text.trim() !== '');
  if (!callsTools && !saysSomething && stop !== 'refusal') throw invalid('is empty');
  if (stop === 'tool_use' && !callsTools) throw invalid('announces a tool call and has none');
  const counts = partsOf(usage ?? {});
  const cacheMiss = cacheMissIn(diagnostics);
  return {
    content,
    stop: stop === 'end' && callsTools ? 'tool_use' : stop,
    usage: {
      inputTokens: countOf(counts['input_tokens']),
      outputTokens: countOf(counts['output_tokens']),
      cacheReadTokens: countOf(counts['cache_read_input_tokens']),
      cacheWriteTokens: countOf(counts['cache_creation_input_tokens']),
      cacheHourTokens: countOf(partsOf(counts['cache_creation'] ?? {})['ephemeral_1h_input_tokens']),
    },
    ...(cacheMiss === undefined ? {} : { cacheMiss }),
  };
}

/** @throws {ModelError} `invalid` where it is no object. */
function partsOf(value: unknown): Fields {
  if (!isFields(value)) throw notAMessage();
  return value;
}

function countOf(value: unknown): number {
  const count = value ?? 0;
  if (typeof count !== 'number' || count < 0) throw notAMessage();
  return count;
}

/** Why the cache missed, where the server says so in the form that is known. */
function cacheMissIn(diagnostics: unknown): string | undefined {
  const reason = isFields(diagnostics) ? diagnostics['cache_miss_reason'] : undefined;
  return isFields(reason) && typeof reason['type'] === 'string' ? reason['type'] : undefined;
}

function contentOf(block: Fields, stop: Stop): ModelResponse['content'] {
  switch (block['type']) {
    case 'text': {
      const { text } = block;
      if (typeof text !== 'string') throw invalid('has a text block without text');
      return text === '' ? [] : [{ type: 'text', text }];
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

function notAMessage(): ModelError {
  return invalid('is not a message');
}

function invalid(what: string): ModelError {
  return new ModelError(`The model's answer ${what}`, 'invalid');
}
