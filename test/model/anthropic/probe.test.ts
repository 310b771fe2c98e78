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
  expect(probe).toEqual({ outcome: 'fine', text: '' });
  expect(server.probes.map(({ body }) => body)).toEqual([
    { model: 'claude-sonnet-5-5', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] },
  ]);
});

it('accepts a token that was only thinking [M9]', async () => {
  const { probe } = await probed({ message: { content: [], stop_reason: 'max_tokens' } });
  expect(probe).toEqual({ outcome: 'fine', text: '' });
});

it.each([
  [{ status: 401 }, 'key'],
  [{ status: 403 }, 'key'],
  [{ status: 402 }, 'credit'],
  [{ status: 404 }, 'model'],
  [{ status: 404, body: { detail: 'Not Found' } }, 'unreachable'],
  [{ message: { error: 'Unexpected endpoint or method.' } }, 'unreachable'],
  [{ status: 400 }, 'refused'],
  [{ status: 429 }, 'busy'],
  [{ status: 529 }, 'busy'],
  [{ status: 500 }, 'unreachable'],
  ['cut', 'unreachable'],
  ['html', 'unreachable'],
  ['empty', 'unreachable'],
] as const)(
  'explains the error %j without another request and without the key [O1]',
  async (answer, outcome) => {
    const { probe, server } = await probed(
      typeof answer === 'object' ? { ...answer, error: `no model ${apiKey}` } : answer,
    );
    expect(probe.outcome).toBe(outcome);
    expect(probe.text).not.toBe('');
    expect(probe.text).not.toContain(apiKey);
    expect(server.probes).toHaveLength(1);
  },
);

it('stops waiting at its time limit [O1]', async () => {
  const { probe } = await probed('silent', 1000);
  expect(probe).toEqual({
    outcome: 'unreachable',
    text: "The model's server did not answer within 1 seconds",
  });
});
