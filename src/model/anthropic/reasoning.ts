import type { RedactedThinkingBlockParam, ThinkingBlockParam } from '@anthropic-ai/sdk/resources/messages';
import { z } from 'zod';

import type { ReasoningBlock } from '../../core/model.ts';

const thinkingSchema = z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() });
const redactedSchema = z.object({ type: z.literal('redacted_thinking'), data: z.string() });
const reasoningSchema = z.discriminatedUnion('type', [thinkingSchema, redactedSchema]);

/** A thinking block of a response, kept as it came; `undefined` for any other block. */
export function reasoningBlock(block: unknown): ReasoningBlock | undefined {
  const parsed = reasoningSchema.safeParse(block);
  return parsed.success ? { type: 'reasoning', vendor: parsed.data } : undefined;
}

/** The thinking block as it goes back to its vendor; nothing where it came from another. */
export function reasoningParam(block: ReasoningBlock): (ThinkingBlockParam | RedactedThinkingBlockParam)[] {
  const parsed = reasoningSchema.safeParse(block.vendor);
  return parsed.success ? [parsed.data] : [];
}
