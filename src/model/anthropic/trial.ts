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
  type ModelResponse,
} from '../../core/model.ts';
import { createAnthropicClient, type ProbeOptions } from './anthropic-client.ts';
import { leastCounted } from './limits.ts';

/** What a model was seen to do of what the bot asks of it [O1]. */
export interface Trial {
  readonly callsTools: boolean;
  readonly keepsToSchema: boolean;
  readonly thinksAloud: boolean;
  /** Its context, where a prompt of the usual size does not fit it; `cuts`: and its server does not say so [M13]. */
  readonly context: { readonly tokens: number; readonly cuts: boolean } | undefined;
}

const answerSchema = z.object({ summary: z.string() });
const note = {
  name: 'note',
  description: 'Notes what a person drinks.',
  inputSchema: jsonSchemaOf(z.object({ drink: z.string() })),
};
/** Milliseconds for a few words. */
const shortMs = 30_000;
const word = 'heron';
const filler = 'The river runs past the mill, the road and the old wall. ';

/** Three short calls, the last with as many characters as a prompt may have. Rejects with `ModelError` where the model cannot be asked at all. */
export async function tryTalents(
  { apiKey, baseUrl, model, timeoutMs }: ProbeOptions,
  promptMaxChars: number,
  logger: Logger,
): Promise<Trial> {
  const client = createAnthropicClient({
    apiKey,
    baseUrl,
    concurrency: 1,
    queueLimit: 1,
    idleTimeoutMs: timeoutMs,
    totalTimeoutMs: timeoutMs,
    logger,
  });
  const ask = (text: string, patienceMs: number, more: Partial<ModelRequest> = {}) =>
    client
      .complete(
        {
          purpose: 'chat',
          userId: '0',
          model,
          system: [],
          messages: [{ role: 'user', content: [{ type: 'text', text }] }],
          maxTokens: 2000,
          ...more,
        },
        { signal: AbortSignal.timeout(patienceMs) },
      )
      .catch(unlessPassing);

  const called = await ask('I drink tea. Call the tool for that.', shortMs, { tools: [note] });
  const summed = await ask('Summarize in one sentence: Alice moved to Graz in May.', shortMs, {
    outputSchema: jsonSchemaOf(answerSchema),
  });
  const long = `The word is "${word}". ${filler.repeat(Math.floor(promptMaxChars / filler.length))}\nWhat is the word? Answer with it alone.`;
  const read = await ask(long, timeoutMs);
  const { contextTokens } = client.limitsOf?.(model) ?? {};
  const isRead = read !== undefined && textOf(read.content).toLowerCase().includes(word);
  // Besides the word that it did not read, half as many as were sent are evidence enough.
  const counted = read === undefined ? 0 : inputOf(read.usage);
  const cuts = !isRead && counted >= leastCounted && counted < estimateTokens(long) / 2;
  const named = contextTokens === undefined ? undefined : { tokens: contextTokens, cuts: false };
  return {
    callsTools: called?.content.some(({ type }) => type === 'tool_use') === true,
    keepsToSchema: summed !== undefined && isSummary(summed),
    thinksAloud: [called, summed, read].some((each) => each?.thinksAloud === true),
    context: cuts ? { tokens: counted, cuts } : named,
  };
}

function isSummary(response: ModelResponse): boolean {
  try {
    return structuredAnswer(response, answerSchema, 'The trial').summary !== '';
  } catch {
    return false;
  }
}

/** A model that cannot do it does not end the trial. */
function unlessPassing(error: unknown): undefined {
  if (error instanceof ModelError && ['invalid', 'empty', 'rejected', 'too-large'].includes(error.failure))
    return undefined;
  throw error;
}
