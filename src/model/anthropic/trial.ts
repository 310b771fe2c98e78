import { z } from 'zod';

import { ModelError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import {
  estimateTokens,
  inputOf,
  jsonSchemaOf,
  structuredAnswer,
  textOf,
  type ModelRequest,
} from '../../core/model.ts';
import { createAnthropicClient, type ProbeOptions } from './anthropic-client.ts';

/** What a model was seen to do of what the bot asks of it [O1]. */
export interface Trial {
  readonly callsTools: boolean;
  readonly keepsToSchema: boolean;
  /** Its context, where a prompt of the usual size does not fit it; `cuts`: and its server does not say so [M13]. */
  readonly context?: { readonly tokens: number; readonly cuts: boolean };
}

const answerSchema = z.object({ summary: z.string() });
const note = {
  name: 'note',
  description: 'Notes what a person drinks.',
  inputSchema: jsonSchemaOf(z.object({ drink: z.string() })),
};
const word = 'heron';
const filler = 'The river runs past the mill, the road and the old wall. ';

/** Three short calls, the last with as many characters as a prompt may have. Rejects with `ModelError` where the model cannot be asked at all. */
export async function tryTalents(
  { apiKey, baseUrl, model, timeoutMs }: ProbeOptions,
  promptMaxChars: number,
  logger: Logger,
): Promise<Trial> {
  const client = createAnthropicClient({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    concurrency: 1,
    queueLimit: 1,
    idleTimeoutMs: timeoutMs,
    totalTimeoutMs: timeoutMs,
    logger,
  });
  const ask = (text: string, more: Partial<ModelRequest> = {}) =>
    client.complete({
      purpose: 'chat',
      userId: '0',
      model,
      system: [],
      messages: [{ role: 'user', content: [{ type: 'text', text }] }],
      maxTokens: 2000,
      ...more,
    });

  const called = await ask('I drink tea. Call the tool for that.', { tools: [note] });
  const callsTools = called.content.some(({ type }) => type === 'tool_use');
  const keepsToSchema = await ask('Summarize in one sentence: Alice moved to Graz in May.', {
    outputSchema: jsonSchemaOf(answerSchema),
  }).then((response) => structuredAnswer(response, answerSchema, 'The trial').summary !== '', unlessPassing);
  const long = `The word is "${word}". ${filler.repeat(Math.floor(promptMaxChars / filler.length))}\nWhat is the word? Answer with it alone.`;
  const read = await ask(long, { maxTokens: 2000 }).catch(unlessPassing);
  if (read === false)
    return {
      callsTools,
      keepsToSchema,
      context: { tokens: client.limitsOf?.(model).contextTokens ?? estimateTokens(long) / 2, cuts: false },
    };
  const counted = inputOf(read.usage);
  const cuts = baseUrl !== undefined && counted > 0 && counted < estimateTokens(long) / 3;
  const isRead = textOf(read.content).toLowerCase().includes(word);
  return { callsTools, keepsToSchema, ...(cuts && !isRead ? { context: { tokens: counted, cuts } } : {}) };
}

/** What a model cannot do is no failure of the trial. */
function unlessPassing(error: unknown): false {
  if (error instanceof ModelError && ['invalid', 'empty', 'rejected', 'too-large'].includes(error.failure))
    return false;
  throw error;
}
