import { z } from 'zod';

import { ModelError, type ModelFailure } from '../../core/errors.ts';
import { jsonIn } from '../../core/lenient-json.ts';
import type { Logger } from '../../core/logger.ts';
import {
  estimateTokens,
  inputOf,
  jsonSchemaOf,
  noUsage,
  textOf,
  type ModelRequest,
  type ModelResponse,
} from '../../core/model.ts';
import { createAnthropicClient, type ProbeOptions } from './anthropic-client.ts';
import { leastCounted } from './learnt.ts';

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

/** Of a model that cannot do what it was asked. */
const nothing: ModelResponse = { content: [], stop: 'end', usage: noUsage };
const unable: ReadonlySet<ModelFailure> = new Set(['invalid', 'empty', 'rejected', 'too-large']);

/** Three short calls, the last with as many characters as a prompt may have. Rejects with `ModelError` where the model cannot be asked at all. */
export async function tryTalents(
  { model, timeoutMs, ...access }: ProbeOptions,
  promptMaxChars: number,
  logger: Logger,
): Promise<Trial> {
  const limits = { concurrency: 1, queueLimit: 1, idleTimeoutMs: timeoutMs, totalTimeoutMs: timeoutMs };
  const client = createAnthropicClient({ ...access, ...limits, logger });

  function ask(text: string, patienceMs: number, more: Partial<ModelRequest> = {}): Promise<ModelResponse> {
    const messages = [{ role: 'user', content: [{ type: 'text', text }] }] as const;
    const request = { purpose: 'chat', userId: '0', model, system: [], messages, maxTokens: 2000 } as const;
    const signal = AbortSignal.timeout(patienceMs);
    return client.complete({ ...request, ...more }, { signal }).catch((error: unknown) => {
      if (error instanceof ModelError && unable.has(error.failure)) return nothing;
      throw error;
    });
  }

  const called = await ask('I drink tea. Call the tool for that.', shortMs, { tools: [note] });
  const summed = await ask('Summarize in one sentence: Alice moved to Graz in May.', shortMs, {
    outputSchema: jsonSchemaOf(answerSchema),
  });
  const long = `The word is "${word}". ${filler.repeat(Math.floor(promptMaxChars / filler.length))}\nWhat is the word? Answer with it alone.`;
  const read = await ask(long, timeoutMs);
  const { contextTokens } = client.limitsOf?.(model) ?? {};
  const isRead = textOf(read.content).toLowerCase().includes(word);
  // Besides the word that it did not read, half as many as were sent are evidence enough.
  const counted = inputOf(read.usage);
  const cuts = !isRead && counted >= leastCounted && counted < estimateTokens(long) / 2;
  const named = contextTokens === undefined ? undefined : { tokens: contextTokens, cuts: false };
  return {
    callsTools: called.content.some(({ type }) => type === 'tool_use'),
    keepsToSchema: jsonIn(textOf(summed.content))?.some((each) => Boolean(each['summary'])) === true,
    thinksAloud: [called, summed, read].some((each) => each.thinksAloud === true),
    context: cuts ? { tokens: counted, cuts } : named,
  };
}
