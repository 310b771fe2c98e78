import pLimit from 'p-limit';
import { z } from 'zod';

import type { Transcribe } from '../core/message.ts';
import { startDeadline } from '../core/time.ts';
import { ModelError, type ModelFailure } from '../core/errors.ts';
import type { CallBudget, Reservation } from '../core/model.ts';

export interface TranscriberOptions {
  /** Without `/audio/transcriptions`. */
  readonly url: string;
  readonly key?: string | undefined;
  readonly model: string;
  /** US dollars; absent where unknown. */
  readonly minutePrice?: number | undefined;
  /** Calls at one time. */
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly budget?: CallBudget | undefined;
  /** Called for each recording that the server has taken, with its cost in US dollars. Must not throw. */
  readonly onUsage: (cost: number | undefined) => void;
}

/** Discord records 32 kbit/s: a recording that claims to be shorter is counted by its size. */
const bytesPerSecond = 4000;

const answerSchema = z.object({ text: z.string() });

/** `POST <url>/audio/transcriptions`, as OpenAI and many local servers have it [G7]. */
export function createTranscriber(options: TranscriberOptions): Transcribe {
  const { url, key, model, minutePrice, budget, onUsage } = options;
  const places = pLimit(options.concurrency);
  const headers = key === undefined ? undefined : { authorization: `Bearer ${key}` };

  return ({ bytes, seconds }, userId, signal) =>
    places(async () => {
      const minutes = Math.max(seconds, bytes.length / bytesPerSecond) / 60;
      const cost = minutePrice === undefined ? undefined : minutes * minutePrice;
      const body = new FormData();
      // Servers tell the format by the name.
      body.set('file', new Blob([new Uint8Array(bytes)], { type: 'audio/ogg' }), 'voice-message.ogg');
      body.set('model', model);
      body.set('response_format', 'json');
      const deadline = startDeadline(options.timeoutMs, signal);
      let reserved: Reservation | undefined;
      try {
        reserved = await budget?.reserve({ userId, purpose: 'chat' }, cost ?? 0);
        const response = await fetch(`${url}/audio/transcriptions`, {
          method: 'POST',
          headers,
          body,
          redirect: 'error',
          signal: deadline.signal,
        });
        const { status, ok } = response;
        if (!ok) throw new ModelError(`Status ${status}`, failureBy.get(status) ?? 'broken');
        reserved?.charge();
        onUsage(cost);
        return answerSchema.parse(await response.json()).text.trim();
      } catch (error) {
        const failure = asModelError(error);
        // What came too late may still be charged.
        if (failure.failure !== 'timeout') reserved?.charge(0);
        throw failure;
      } finally {
        deadline.end();
      }
    });
}

const failureBy: ReadonlyMap<number, ModelFailure> = new Map([
  [401, 'rejected'],
  [403, 'rejected'],
  [404, 'unknown-model'],
  [413, 'too-large'],
  [429, 'rate-limited'],
  [503, 'rate-limited'],
]);

function asModelError(error: unknown): ModelError {
  if (error instanceof ModelError) return error;
  // A parser's reason may hold what was said.
  return error instanceof TypeError
    ? new ModelError('The server cannot be reached', 'unavailable', { cause: error })
    : new ModelError('The answer has no text', 'invalid');
}
