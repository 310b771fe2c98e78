import { onTestFinished } from 'vitest';

import {
  createAnthropicClient,
  type AnthropicClientOptions,
} from '../../../src/model/anthropic/anthropic-client.ts';
import type { ModelClient, ModelRequest } from '../../../src/core/model.ts';
import { startModelServer, type ModelScript, type ModelServer } from '../../support/model-server.ts';
import { recordingLogger } from '../../support/recording-logger.ts';

/** A scripted server and a client of it that does not wait between attempts; both end with the test. */
export async function clientOf(
  script: ModelScript,
  options: Partial<AnthropicClientOptions> = {},
): Promise<{ client: ModelClient; server: ModelServer }> {
  const server = await startModelServer(script);
  onTestFinished(() => server.close());
  const client = createAnthropicClient({
    apiKey: 'test-key',
    baseUrl: server.url,
    concurrency: 4,
    queueLimit: 10,
    idleTimeoutMs: 30_000,
    totalTimeoutMs: 60_000,
    logger: recordingLogger(),
    random: () => 0,
    ...options,
  });
  return { client, server };
}

/** A chat request that says hello, with what a test cares about changed. */
export function request(changes: Partial<ModelRequest> = {}): ModelRequest {
  return {
    purpose: 'chat',
    userId: '100000000000000001',
    model: 'sonnet',
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
    maxTokens: 100,
    ...changes,
  };
}
