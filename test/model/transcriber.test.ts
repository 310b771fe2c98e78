import { describe, expect, it } from 'vitest';

import { ModelError } from '../../src/core/errors.ts';
import type { CallBudget } from '../../src/core/model.ts';
import { createTranscriber, type TranscriberOptions } from '../../src/model/transcriber.ts';
import { startTranscriptionServer, type TranscriptionAnswer } from '../support/transcription-server.ts';

const recording = { bytes: Buffer.from('OggS and so on'), seconds: 120 };
const running = () => new AbortController().signal;

async function listening(answer: TranscriptionAnswer, changes: Partial<TranscriberOptions> = {}) {
  const server = await startTranscriptionServer(() => answer);
  const costs: (number | undefined)[] = [];
  const transcribe = createTranscriber({
    url: server.url,
    model: 'whisper-1',
    concurrency: 2,
    timeoutMs: 60_000,
    onUsage: (cost) => costs.push(cost),
    ...changes,
  });
  const dispose = () => server[Symbol.asyncDispose]();
  return { server, transcribe, costs, [Symbol.asyncDispose]: dispose };
}

/** A budget that notes what was set aside, and what of it was given back. */
function notingBudget(reserve?: CallBudget['reserve']) {
  const sums: { readonly usd: number; settled: readonly (number | undefined)[] }[] = [];
  const budget: CallBudget = {
    reserve:
      reserve ??
      ((_, usd) => {
        const sum: (typeof sums)[number] = { usd, settled: [] };
        sums.push(sum);
        return Promise.resolve({ charge: (actual) => void (sum.settled = [...sum.settled, actual]) });
      }),
  };
  return { sums, budget };
}

describe('a transcription [G7]', () => {
  it('asks the server with the file, the model and the key, and takes its text', async () => {
    await using scene = await listening({ text: ' I like tea. ' }, { key: 'sk-1' });
    expect(await scene.transcribe(recording, 'alice', running())).toBe('I like tea.');
    const [request] = scene.server.requests;
    expect(request).toMatchObject({
      path: '/v1/audio/transcriptions',
      fields: { model: 'whisper-1', response_format: 'json' },
      file: { name: 'voice-message.ogg', type: 'audio/ogg', bytes: recording.bytes },
    });
    expect(request?.headers.authorization).toBe('Bearer sk-1');
  });

  it('counts what the recording costs, by its size where it claims to be shorter [L2]', async () => {
    const { sums, budget } = notingBudget();
    await using scene = await listening({ text: 'Hello.' }, { minutePrice: 0.25, budget });
    await scene.transcribe(recording, 'alice', running());
    await scene.transcribe({ bytes: Buffer.alloc(240_000), seconds: 1 }, 'alice', running());
    expect(scene.costs).toEqual([0.5, 0.25]);
    expect(sums).toEqual([
      { usd: 0.5, settled: [undefined] },
      { usd: 0.25, settled: [undefined] },
    ]);
  });

  it('gives back what a refused one would have cost, and sends nothing over a limit', async () => {
    const { sums, budget } = notingBudget();
    await using refusing = await listening({ status: 500 }, { minutePrice: 0.25, budget });
    await expect(refusing.transcribe(recording, 'alice', running())).rejects.toMatchObject({
      failure: 'broken',
    });
    expect(refusing.costs).toEqual([]);
    expect(sums).toEqual([{ usd: 0.5, settled: [0] }]);

    const over = notingBudget(() => Promise.reject(new ModelError('too much', 'over-limit')));
    await using scene = await listening({ text: 'Hello.' }, { minutePrice: 1, budget: over.budget });
    await expect(scene.transcribe(recording, 'alice', running())).rejects.toMatchObject({
      failure: 'over-limit',
    });
    expect(scene.server.requests).toEqual([]);
  });
});
