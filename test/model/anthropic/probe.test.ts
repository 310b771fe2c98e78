import { expect, it } from 'vitest';

import { probeModel } from '../../../src/model/anthropic/anthropic-client.ts';
import type { ModelAnswer } from '../../support/model-answer.ts';
import { startModelServer } from '../../support/model-server.ts';

const apiKey = 'sk-of-the-test-0123456789';

async function probed(answer: ModelAnswer, timeoutMs = 20_000) {
  const server = await startModelServer(
    () => 'silent',
    () => answer,
  );
  try {
    return { probe: await probeModel({ apiKey, baseUrl: server.url, model: 'sonnet', timeoutMs }), server };
  } finally {
    await server.close();
  }
}

it('asks for one token, once [O1]', async () => {
  const { probe, server } = await probed({ text: 'Hi' });
  expect(probe).toEqual({ text: '' });
  expect(server.probes.map(({ body }) => body)).toEqual([
    { model: 'claude-sonnet-5-5', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] },
  ]);
});

it('accepts a token that was only thinking [M9]', async () => {
  const { probe } = await probed({ message: { content: [], stop_reason: 'max_tokens' } });
  expect(probe).toEqual({ text: '' });
});

it.each([
  [{ status: 401 }, 'unauthorized'],
  [{ status: 404, body: { detail: 'Not Found' } }, 'no-api'],
  ['html', 'invalid'],
  ['empty', 'empty'],
] as const)(
  'explains the error %j without another request and without the key [O1]',
  async (answer, failure) => {
    const { probe, server } = await probed(
      typeof answer === 'object' ? { ...answer, error: `no model ${apiKey}` } : answer,
    );
    expect(probe.failure).toBe(failure);
    expect(probe.text).not.toBe('');
    expect(probe.text).not.toContain(apiKey);
    expect(server.probes).toHaveLength(1);
  },
);

it('stops waiting at its time limit [O1]', async () => {
  const { probe } = await probed('silent', 1000);
  expect(probe).toEqual({
    failure: 'timeout',
    text: "The model's server did not answer within 1 seconds",
  });
});
