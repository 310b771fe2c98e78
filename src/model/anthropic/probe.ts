import { APIError } from '@anthropic-ai/sdk';

import { createSdk, noKey } from './anthropic-client.ts';
import { resolveModel } from './models.ts';
import { readMessage } from './response.ts';
import { failedAttempt } from './retries.ts';

/** `key`, `model`: the server refuses it; `refused`: for another reason; `unreachable`: no usable answer. */
type ProbeOutcome = 'fine' | 'key' | 'model' | 'refused' | 'busy' | 'unreachable';

interface Probe {
  readonly outcome: ProbeOutcome;
  /** What went wrong, without secrets. */
  readonly text: string;
}

export interface ProbeOptions {
  readonly apiKey?: string;
  readonly baseUrl?: string;
  /** An alias or an id. */
  readonly model: string;
  readonly timeoutMs: number;
}

/** Asks a model for one token [O1]. Never rejects. */
export async function probeModel({ apiKey, baseUrl, model, timeoutMs }: ProbeOptions): Promise<Probe> {
  const sdk = createSdk({ apiKey, baseUrl, totalTimeoutMs: timeoutMs });
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const answer = await sdk.messages.create(
      { model: resolveModel(model), max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] },
      { signal },
    );
    // A model that thinks first may have no text yet.
    if (answer.stop_reason !== 'max_tokens') readMessage(answer);
    return { outcome: 'fine', text: '' };
  } catch (error) {
    if (signal.aborted)
      return {
        outcome: 'unreachable',
        text: `The model's server did not answer within ${timeoutMs / 1000} seconds`,
      };
    return { outcome: outcomeOf(error), text: failedAttempt(error, apiKey ?? noKey).error.message };
  }
}

function outcomeOf(error: unknown): ProbeOutcome {
  if (!(error instanceof APIError) || typeof error.status !== 'number') return 'unreachable';
  const { status, type } = error;
  if (status === 401 || status === 403) return 'key';
  if (status === 404 && type === 'not_found_error') return 'model';
  if (status === 429 || status === 529) return 'busy';
  return status >= 500 || status === 404 ? 'unreachable' : 'refused';
}
